// Values that stay where the caller has them.
#pragma once

#include <cstddef>
#include <memory>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/session.h"

namespace clvet::v1::c {

// What a caller gives for inputs: each is released once, whatever happens.
class Given {
 public:
  Given(const clvet_values* values, size_t count);
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given();

  // The inputs have these values from then on. After an error the session is as it was.
  Status set_in(Session& session);

 private:
  const clvet_values* next() const;
  std::shared_ptr<const void> take();

  Status there_;
  const clvet_values* next_;
  const clvet_values* end_;
};

}  // namespace clvet::v1::c

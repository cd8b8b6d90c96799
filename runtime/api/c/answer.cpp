// What a session holds, and whole answers, in one call.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "clvet/tensor.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/c/mapping.h"
#include "runtime/api/c/tensors.h"
#include "runtime/api/c/values.h"

namespace clvet::v1::c {
namespace {

Status give_output(Session& session, clvet_output& output) {
  if (!output.name) return invalid("the name of an output is null");
  auto mapped = session.map(output.name, Access::read);
  if (!mapped) return mapped.error();
  output.mapping = new clvet_mapping{std::move(*mapped)};
  const TensorInfo& info = output.mapping->mapping.info();
  const auto values = values_of(output.mapping->mapping, info.type);
  if (!values) return values.error();
  output.info = info_of(info);
  output.data = values->data();
  output.bytes = values->size();
  return {};
}

void forget(clvet_output& output) {
  clvet_mapping_free(output.mapping);
  output = {.name = output.name, .info = {}, .data = nullptr, .bytes = 0, .mapping = nullptr};
}

// Outputs that have nothing yet, and have nothing again unless all of them are kept.
class Outputs {
 public:
  Outputs(clvet_output* outputs, size_t count)
      : there_(check_array("outputs", outputs, count)),
        all_(there_ && outputs ? std::span(outputs, count) : std::span<clvet_output>()) {
    for (clvet_output& one : all_) one.mapping = nullptr;
    clear();
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;
  ~Outputs() { clear(); }

  const Status& there() const { return there_; }
  Status give(Session& session) {
    if (!there_) return there_;
    for (clvet_output& one : all_)
      if (Status given = give_output(session, one); !given) return given;
    all_ = {};
    return {};
  }

 private:
  void clear() { std::ranges::for_each(all_, forget); }

  Status there_;
  std::span<clvet_output> all_;
};

}  // namespace
}  // namespace clvet::v1::c

using namespace clvet::v1::c;
using clvet::v1::Status;

clvet_code clvet_session_read(clvet_session* session, clvet_output* outputs, size_t count) {
  Outputs wanted(outputs, count);
  return call(__func__, {{"session", session}}, [&] { return wanted.give(session->session); });
}

clvet_code clvet_session_answer(clvet_session* session, const clvet_values* values,
                                size_t value_count, clvet_output* outputs, size_t output_count,
                                int32_t* has_set) {
  clear(has_set);
  Given given(values, value_count);
  Outputs wanted(outputs, output_count);
  return call(__func__, {{"session", session}}, [&]() -> Status {
    if (!wanted.there()) return wanted.there();
    if (Status set = given.set_in(session->session); !set) return set;
    if (has_set) *has_set = 1;
    if (Status done = session->session.run(); !done) return done;
    return wanted.give(session->session);
  });
}

#include "clvet/session.h"

#include <cstddef>

#include "clvet/clvet_c.h"
#include "clvet/result.h"
#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep
#include "runtime/api/c/open_options.h"
#include "runtime/api/c/tensors.h"

using namespace clvet::v1::c;
using clvet::v1::Session;
using clvet::v1::SessionOptions;
using clvet::v1::Status;

clvet_code clvet_session_open(const char* path, const clvet_session_options* options,
                              clvet_session** out) {
  clear(out);
  return call(__func__, {{"path", path}, {"out", out}}, [&]() -> Status {
    const auto given = options_of(options);
    if (!given) return given.error();
    auto wanted = opened_with<SessionOptions>(*given);
    wanted.start = text_or(given->start, "device");
    return give(out, Session::open(path, wanted));
  });
}

void clvet_session_free(clvet_session* session) { delete session; }

clvet_code clvet_session_inputs(const clvet_session* session, clvet_tensor_list** out) {
  clear(out);
  return call(__func__, {{"session", session}, {"out", out}},
              [&] { return give(out, session->session.inputs()); });
}

clvet_code clvet_session_outputs(const clvet_session* session, clvet_tensor_list** out) {
  clear(out);
  return call(__func__, {{"session", session}, {"out", out}},
              [&] { return give(out, session->session.outputs()); });
}

clvet_code clvet_session_resize(clvet_session* session, const clvet_tensor_info* shapes,
                                size_t count) {
  return call(__func__, {{"session", session}}, [&]() -> Status {
    const auto known = shapes_of(shapes, count);
    return known ? session->session.resize(*known) : known.error();
  });
}

clvet_code clvet_session_warm_up(clvet_session* session) {
  return call(__func__, {{"session", session}}, [&] { return session->session.warm_up(); });
}

clvet_code clvet_session_run(clvet_session* session) {
  return call(__func__, {{"session", session}}, [&] { return session->session.run(); });
}

clvet_code clvet_session_cancel(clvet_session* session) {
  return call(__func__, {{"session", session}}, [&]() -> Status {
    session->session.cancel();
    return {};
  });
}

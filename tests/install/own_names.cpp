// A program with libraries of its own of the names that clvet's static library has within: both
// work.
#include <clvet/clvet.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// Of nettle and of PCRE2, in clvet's place.
extern "C" void nettle_sha256_init(void*) { std::abort(); }
extern "C" void* pcre2_compile_8() { std::abort(); }

namespace {

bool own_protobuf_works() {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteVarint32(300);
  }
  return bytes == "\xac\x02";
}

}  // namespace

int main(int count, char** words) {
  if (count < 2 || !own_protobuf_works()) return 2;
  clvet::SessionOptions options;
  options.device = "host";
  auto session = clvet::Session::open(words[1], options);
  if (!session) return std::fprintf(stderr, "%s\n", session.error().message.c_str()), 1;
  if (const auto status = session->resize({{"x", {1, 3, 48, 192}}}); !status) return 1;
  {
    auto x = session->map("x", clvet::Access::write);
    for (float& value : *x->as<float>()) value = 0;
  }
  if (const auto status = session->run(); !status) return 1;
  const auto outputs = session->outputs();
  auto scores = session->map(outputs->front().name, clvet::Access::read);
  const auto values = *scores->as<const float>();
  const int best = values[1] > values[0];
  std::printf("value %d is the largest: %g\n", best, values[best]);
}

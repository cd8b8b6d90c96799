// classify MODEL [DEVICE]: gives each input of a network ones, runs it, and prints the largest
// value of its first output. Open dims become 1, or what follows as NAME=AxBxC.
#include <clvet/clvet.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

namespace {

// 1 for each axis that the model leaves open.
clvet::Shape closed(clvet::Shape shape) {
  for (int64_t& size : shape) size = std::max<int64_t>(size, 1);
  return shape;
}

// "x=1x3x48x192" -> {"x", {1, 3, 48, 192}}
std::pair<std::string, clvet::Shape> shape_of(const std::string& word) {
  const size_t equals = word.find('=');
  clvet::Shape shape;
  std::istringstream sizes(word.substr(equals + 1));
  for (std::string size; std::getline(sizes, size, 'x');) shape.push_back(std::stoll(size));
  return {word.substr(0, equals), shape};
}

clvet::Status fill_with_ones(clvet::Session& session, const clvet::TensorInfo& input) {
  auto mapped = session.map(input.name, clvet::Access::write);
  if (!mapped) return mapped.error();
  const auto values = mapped->as<float>();
  if (!values) return values.error();
  std::fill(values->begin(), values->end(), 1.0F);
  return {};
}

clvet::Status classify(const std::string& model, const clvet::SessionOptions& options,
                       std::map<std::string, clvet::Shape> shapes) {
  auto session = clvet::Session::open(model, options);
  if (!session) return session.error();
  const auto inputs = session->inputs();
  if (!inputs) return inputs.error();
  for (const clvet::TensorInfo& input : *inputs) shapes.emplace(input.name, closed(input.shape));
  if (const auto done = session->resize(shapes); !done) return done;
  for (const clvet::TensorInfo& input : *inputs)
    if (const auto done = fill_with_ones(*session, input); !done) return done;
  if (const auto done = session->run(); !done) return done;

  const auto outputs = session->outputs();
  if (!outputs) return outputs.error();
  const auto output = session->map(outputs->front().name, clvet::Access::read);
  if (!output) return output.error();
  const auto values = output->as<const float>();
  if (!values) return values.error();
  const auto largest = std::max_element(values->begin(), values->end());
  std::printf("%s: value %td is the largest: %.4f\n", output->info().name.c_str(),
              largest - values->begin(), static_cast<double>(*largest));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: classify MODEL.onnx [DEVICE] [NAME=AxBxC]...\n");
    return 2;
  }
  clvet::SessionOptions options;
  options.warning = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  std::map<std::string, clvet::Shape> shapes;
  for (int i = 2; i < argc; ++i) {
    if (std::strchr(argv[i], '=')) {
      shapes.insert(shape_of(argv[i]));
    } else {
      options.device = argv[i];
    }
  }
  const auto done = classify(argv[1], options, shapes);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}

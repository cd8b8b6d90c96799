// Files as inputs of the program.
#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string little(size_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

// 8 bits a sample: 0 is \x80, 0.5 is \xC0.
std::string wav(const std::string& samples, size_t channels = 1, size_t rate = 16000) {
  return "RIFF" + little(36 + samples.size(), 4) + "WAVEfmt " + little(16, 4) + little(1, 2) +
         little(channels, 2) + little(rate, 4) + little(rate * channels, 4) + little(channels, 2) +
         little(8, 2) + "data" + little(samples.size(), 4) + samples;
}

class RunOfAFile : public testing::Test {
 protected:
  void model(const Shape& shape, int onnx_type = 1) {
    test::ModelBuilder model;
    model.input("x", shape, onnx_type).node("Neg", {"x"}, {"y"});
    model.output("y");
    test::put(bench_ / "m.onnx", model.bytes());
  }
  test::Finished run(const std::vector<std::string>& more) { return bench_.run_model(more); }
  std::string file(const std::string& name, const std::string& bytes) {
    test::put(bench_ / name, bytes);
    return bench_ / name;
  }
  test::Bench bench_;
};

TEST_F(RunOfAFile, TakesSoundAndSaysItsRate) {
  model({1, -1});
  const auto done = run({"--input", "x=" + file("a.WAV", wav("\xC0\x40\xC0"))});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("y f32[1,3]: -0.5, 0.5, -0.5\n"));
  EXPECT_THAT(done.err, HasSubstr("a.WAV: 3 samples at 16000 Hz\n"));
}

TEST_F(RunOfAFile, MixesChannelsAndResamplesSound) {
  model({-1});
  const auto done = run({"--input", "x=" + file("a.wav", wav(std::string(40, '\x80'), 2, 8000)),
                         "--sample-rate", "16000"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("y f32[40]: "));
  EXPECT_THAT(done.err, AllOf(HasSubstr("a.wav: the input gets the mean of 2 channels\n"),
                              HasSubstr("40 samples at 16000 Hz, resampled from 8000 Hz\n")));
}

TEST_F(RunOfAFile, FillsUpASoundThatIsTooShortAndRefusesOneThatIsTooLong) {
  model({1, 4});
  const std::string sound = file("a.wav", wav("\xC0\x40\xC0"));
  const auto done = run({"--input", sound, "--quiet", "--json", "-"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, sound +
                          ": the sound is 1 samples shorter than what the model takes; zeros "
                          "follow it\n");
  const auto refused = run({"--input", file("b.wav", wav("\xC0\x40\xC0\x40\xC0"))});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--series x=FILE.wav"));
}

TEST_F(RunOfAFile, CutsASeriesOfSoundIntoChunks) {
  model({1, 2});
  const std::string series = "x=" + file("a.wav", wav("\xC0\x40\xC0"));
  const auto done = run({"--series", series});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("y f32[2,1,2]: -0.5, 0.5, -0.5, -0\n"));
  EXPECT_THAT(done.err, HasSubstr("the sound is 1 samples shorter"));
  const auto overlap = run({"--series", series, "--chunk-overlap", "1"});
  EXPECT_THAT(overlap.out, HasSubstr("y f32[3,1,2]: -0, -0.5, -0.5, 0.5, 0.5, -0.5\n"));
  const auto other = run({"--series", series, "--chunk", "3"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("leave --chunk out"));
}

TEST_F(RunOfAFile, NeedsAChunkOnlyForASeriesOfSound) {
  model({1, -1});
  const std::string sound = file("a.wav", wav("\xC0\x40\xC0"));
  EXPECT_THAT(run({"--series", "x=" + sound}).err, HasSubstr("--chunk 512"));
  EXPECT_THAT(run({"--series", "x=" + sound, "--chunk", "2"}).out, HasSubstr("y f32[2,1,2]: "));
  for (const char* option : {"--chunk", "--chunk-overlap"}) {
    const auto done = run({"--input", "x=" + sound, option, "2"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("are for a series of sound"));
  }
  EXPECT_THAT(run({"--series", "z=" + sound, "--chunk", "2"}).err,
              HasSubstr("the model has no input 'z'; it takes x f32[1,?]"));
}

TEST_F(RunOfAFile, SaysWhatItDidToSoundOnceAlsoInAChild) {
  model({1, 4});
  const auto done = run({"--input", file("a.wav", wav("\xC0\x40\xC0")), "--isolate"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(test::count(done.err, "3 samples at 16000 Hz"), 1u) << done.err;
  EXPECT_EQ(test::count(done.err, "zeros follow it"), 1u) << done.err;
}

TEST_F(RunOfAFile, RefusesIntegersForSound) {
  model({1, -1}, 5);
  const auto done = run({"--input", file("a.wav", wav("\xC0"))});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("input 'x' takes i16, but sound is made of floats"));
}

TEST_F(RunOfAFile, SaysHowToConvertWhatItDoesNotRead) {
  model({1, -1});
  EXPECT_THAT(run({"--input", file("my a.MP3", "ID3")}).err,
              AllOf(HasSubstr("clvet reads no sound but .wav; convert it: ffmpeg -i '"),
                    HasSubstr("my a.MP3' out.wav\n")));
  EXPECT_THAT(run({"--input", file("a.webp", "RIFF")}).err, HasSubstr("no pictures but .png"));
  EXPECT_THAT(run({"--input", file("a.npz", "PK")}).err, HasSubstr("holds several arrays"));
  EXPECT_THAT(run({"--series", "x=" + file("b.flac", "fLaC")}).err, HasSubstr("no sound but .wav"));
}

TEST_F(RunOfAFile, GivesPicturesAsManyChannelsAsTheInputHas) {
  const std::string picture = std::string(CLVET_SOURCE_DIR) + "/tests/data/images/text-1.png";
  const std::vector<std::string> size{"--input", picture, "--image-size", "2x3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), size.begin(), size.end());
    return run(more);
  };
  model({1, 1, -1, -1});
  EXPECT_THAT(with({"--bgr"}).out, HasSubstr("y f32[1,1,3,2]: "));
  EXPECT_THAT(with({"--mean", "1,2,3"}).err, HasSubstr("has one channel, but --mean has three"));
  model({1, -1, -1, 1});
  EXPECT_THAT(with({"--layout", "nhwc"}).out, HasSubstr("y f32[1,3,2,1]: "));
  model({1, -1, -1, -1});
  EXPECT_THAT(with({}).out, HasSubstr("y f32[1,3,3,2]: "));
  model({1, 3, 3, 2});
  EXPECT_THAT(with({}).out, HasSubstr("y f32[1,3,3,2]: "));
}

TEST_F(RunOfAFile, GivesPicturesTheTypeOfTheInput) {
  const std::string picture = std::string(CLVET_SOURCE_DIR) + "/tests/data/images/text-1.png";
  const auto with = [&](int onnx_type, std::vector<std::string> more) {
    test::ModelBuilder model;
    model.input("x", {1, 3, -1, -1}, onnx_type).node("Identity", {"x"}, {"y"});
    model.output("y");
    test::put(bench_ / "m.onnx", model.bytes());
    more.insert(more.end(), {"--input", picture, "--image-size", "1x1"});
    return run(more);
  };
  EXPECT_THAT(with(10, {}).out, HasSubstr("y f16[1,3,1,1]: 255, 255, 255"));
  EXPECT_THAT(with(11, {}).out, HasSubstr("y f64[1,3,1,1]: 255, 255, 255"));
  EXPECT_THAT(with(2, {}).out, HasSubstr("y u8[1,3,1,1]: 255, 255, 255"));
  EXPECT_THAT(with(2, {"--scale", "0.01"}).out, HasSubstr("y u8[1,3,1,1]: 3, 3, 3"));
  for (const char* scale : {"-1", "2", "1e30", "1e308"}) {
    const auto done = with(2, {"--scale", scale});
    EXPECT_EQ(done.exit_code, 2) << scale;
    EXPECT_THAT(done.err, HasSubstr("takes u8, but with --mean and --scale the pixels are"));
  }
  EXPECT_THAT(with(3, {}).err, HasSubstr("takes i8, but pictures become floats or u8"));
}

TEST_F(RunOfAFile, RefusesASizeThatIsNone) {
  model({1, 3, -1, -1});
  const std::string picture = std::string(CLVET_SOURCE_DIR) + "/tests/data/images/text-1.png";
  for (const char* size : {"4294967298x2", "2x4294967298", "99999999999999999999x2", " 2x2", "2x+2",
                           "2", "2x", "x2", "2x2x2", "0x2", "2x-2", "16385x2"}) {
    const auto done = run({"--input", picture, "--image-size", size});
    EXPECT_EQ(done.exit_code, 2) << size;
    EXPECT_THAT(done.err, HasSubstr("is not WIDTHxHEIGHT")) << size;
  }
}

TEST_F(RunOfAFile, RefusesTwoValuesForOneInput) {
  model({1, 2});
  const std::string value = "x=" + file("a.wav", wav("\xC0\x40"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--input", value, "--input"},
        {"--series", value, "--series"},
        {"--input", value, "--series"}}) {
    std::vector<std::string> twice = words;
    twice.push_back(value);
    const auto done = run(twice);
    EXPECT_EQ(done.exit_code, 2) << words.back();
    EXPECT_THAT(done.err, HasSubstr("leave one out")) << words.back();
  }
  const auto shapes = bench_.run(
      {"plan", bench_ / "m.onnx", "--device", "host", "--shape", "x=1x2", "--shape", "x=1x2"});
  EXPECT_EQ(shapes.exit_code, 2);
  EXPECT_THAT(shapes.err, HasSubstr("--shape: 'x' is given twice"));
}

TEST_F(RunOfAFile, ReadsEndingsInAnyCase) {
  model({1, -1});
  const auto done = run({"--input", file("a.NPY", "none")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, AllOf(HasSubstr("not a .npy file"), Not(HasSubstr("raw"))));
}

}  // namespace
}  // namespace clvet

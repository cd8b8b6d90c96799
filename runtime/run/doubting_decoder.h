// A language model on a device that is not believed: the first steps of each size are confirmed by
// the host, launch by launch, later ones as often as a share of the time allows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/exec/device.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/llm/decoder.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {

class DoubtingDecoder : public DecoderBackend {
 public:
  // `plan`: the decoder's. `rate`: the part of the steps that is checked; empty: what kDefaultShare
  // of the time allows. `witness` is of the same model. All references must outlive it.
  DoubtingDecoder(Device& device, std::unique_ptr<DeviceDecoder> decoder,
                  std::unique_ptr<HostDecoder> witness, const History& history,
                  const ExecutionPlan& plan, std::optional<double> rate)
      : device_(device),
        decoder_(std::move(decoder)),
        witness_(std::move(witness)),
        history_(history),
        key_(History::key_of(plan)),
        environment_(plan.subject.environment_key),
        rate_(rate) {}
  // Keeps in the history what was confirmed.
  void note() const;

  Result<std::span<const float>> step(std::span<const float> hidden, int64_t rows, int64_t position,
                                      bool answer) override;
  Status reserve(int64_t capacity) override { return decoder_->reserve(capacity); }

  const DeviceDecoder& decoder() const { return *decoder_; }
  // After an error of the device: what is to be trusted no more.
  const std::optional<Fault>& fault() const { return fault_; }
  // As DeviceDecoder's.
  Status expect_greedy(bool greedy) { return decoder_->expect_greedy(greedy); }
  void set_checking(bool checking) { checking_ = checking; }
  // The host's logits look suspicious, too (doubt.h): those of the last step may.
  bool odd() const;
  // Steps of one token up to the next that is checked; 0: none was confirmed yet.
  int64_t every() const;

 private:
  struct Step {
    std::span<const float> hidden;
    int64_t rows, position;
    bool answer;
  };
  // Of the steps of one size, with the binaries that its programs came of.
  struct Confirmed {
    std::string key;  // in the history
    std::optional<CheckRhythm> rhythm;
  };
  std::optional<CheckRhythm>& rhythm_of(const Step& step);
  Result<std::span<const float>> unconfirmed(const Step& step);
  Result<std::span<const float>> confirmed_by_host(const Step& step);
  Result<std::span<const float>> both(const Step& step, std::optional<CheckRhythm>& rhythm);
  bool is_right_again(const Step& step);
  Status waited_for();
  tl::unexpected<Error> fault_found(Fault fault);

  Device& device_;
  std::unique_ptr<DeviceDecoder> decoder_;
  std::unique_ptr<HostDecoder> witness_;
  const History& history_;
  std::string key_, environment_;
  std::optional<double> rate_;
  bool checking_ = true;
  std::map<std::pair<int64_t, bool>, Confirmed> rhythms_;  // by rows and answer
  std::optional<Fault> fault_;
  double checking_ms_ = 0;  // of the last check, beside the launches that it checked
};

}  // namespace clvet

// The parts of the page, each appended to `page`. `id` begins every anchor of a part.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "reports/render/html/builder.h"
#include "reports/render/verdict_matrix.h"

namespace clvet {

// Bytes of one cell: what came from outside is cut there.
constexpr size_t kLongestText = 600;

// How many bytes of evidence a report's part of the page may still take.
struct EvidenceBudget {
  size_t left = 1'000'000;
};

// The anchor of a failure's evidence.
std::string evidence_anchor(const std::string& id, size_t kind, size_t group);

// The letters that the rows hold, spelt out.
void add_legend(Html& page, const std::vector<MatrixRow>& rows);
void add_matrix(Html& page, const std::vector<MatrixRow>& rows,
                const std::vector<FailureKind>& failures, const std::string& id);
void add_evidence(Html& page, const std::vector<FailureKind>& failures, const std::string& id,
                  EvidenceBudget& budget);
void add_device(Html& page, const Report& report, const DeviceReport& device, const std::string& id,
                EvidenceBudget& budget);
void add_tombstones(Html& page, const std::vector<Tombstone>& tombstones);
void add_advice(Html& page, const std::vector<AdviceReport>& advice);
void add_discovery(Html& page, const Report& report);
void add_host(Html& page, const HostReport& host);
void add_run(Html& page, const Report& report);

}  // namespace clvet

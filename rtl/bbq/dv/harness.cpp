// Drives tp_bbq with an operation in (nearly) every cycle, and holds every response, its cycle, and the occupancies against a model.
//
// Usage: harness [--ops N] [--seed S] [+NAME=VALUE]. The last are for the circuit, which has none but for seeded bugs. The parameters are those that the circuit was built with, given as macros.
// Ends with 1 at the first difference.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "Vtp_bbq.h"
#include "verilated.h"

namespace {

constexpr unsigned log2_of(uint64_t value) { return value <= 1 ? 0 : 1 + log2_of(value / 2); }

constexpr uint32_t kBuckets = 1u << (LEVELS * log2_of(WIDTH));
constexpr uint32_t kSpan = kBuckets / PARTITIONS;
constexpr uint64_t kDataMask = ~0ull >> (64 - DATA_BITS);
constexpr unsigned kCountBits = log2_of(ELEMENTS) + 1;
// With so many operations each status has to come; the largest queues are not sure to fill between two resets.
constexpr uint64_t kAllSeen = ELEMENTS <= 1023 ? 100'000 : UINT64_MAX;
// Cycles after which a request shows in the occupancies.
constexpr unsigned kOccupancyDelay = PARTITIONS == 1 ? 2 : 3;

// kMaxToo is what the ports have room for: it does as kMax does, and is given back as it was asked.
enum Op : uint32_t { kEnqueue, kMin, kMax, kMaxToo };
enum Status : uint32_t { kOk, kFull, kEmpty };

struct Request {
    uint32_t op, partition, priority;
    uint64_t data;
};

struct Response {
    uint64_t cycle;
    uint32_t status, op, partition, priority;
    uint64_t data;
};

// One operation after the other, in the plainest way.
class Model {
  public:
    void reset() {
        for (auto& partition : partitions_) partition.clear();
        occupancy_.assign(PARTITIONS, 0);
        used_ = 0;
    }

    Response issue(const Request& request) {
        Response response{0, kOk, request.op, request.partition, 0, 0};
        auto& buckets = partitions_[request.partition];
        if (request.op == kEnqueue) {
            if (used_ == ELEMENTS) {
                response.status = kFull;
                return response;
            }
            buckets[request.priority].push_back(request.data);
            used_++;
            occupancy_[request.partition]++;
            return response;
        }
        if (buckets.empty()) {
            response.status = kEmpty;
            return response;
        }
        auto bucket = request.op == kMin ? buckets.begin() : std::prev(buckets.end());
        response.priority = bucket->first;
        response.data = bucket->second.front();
        bucket->second.pop_front();
        if (bucket->second.empty()) buckets.erase(bucket);
        used_--;
        occupancy_[request.partition]--;
        return response;
    }

    uint32_t used() const { return used_; }
    uint32_t occupancy(uint32_t partition) const { return occupancy_[partition]; }

  private:
    std::vector<std::map<uint32_t, std::deque<uint64_t>>> partitions_{PARTITIONS};
    std::vector<uint32_t> occupancy_ = std::vector<uint32_t>(PARTITIONS, 0);
    uint32_t used_ = 0;
};

// What to ask next: a kind of load for some hundreds of operations, then another kind.
class Workload {
  public:
    explicit Workload(uint64_t seed) : random_(seed) {}

    uint64_t below(uint64_t bound) { return random_() % bound; }
    bool chance(uint32_t of_256) { return (random_() & 255) < of_256; }

    // Nothing to ask in this cycle?
    bool idle() { return gaps_ != 0 && chance(gaps_); }

    Request next(const Model& model) {
        if (left_ == 0) choose();
        left_--;
        Request request{kEnqueue, partition_, 0, random_() & kDataMask};
        const uint32_t step = step_++;
        switch (kind_) {
            case Kind::kMix:
                if (chance(switches_)) request.partition = partition_ = below(PARTITIONS);
                request.op = either(enqueues_);
                request.priority = below(kSpan);
                break;
            case Kind::kOneBucket:
                request.op = either(enqueues_);
                request.priority = buckets_[0];
                break;
            case Kind::kFewBuckets:
                if (chance(switches_)) request.partition = partition_ = below(PARTITIONS);
                request.op = either(enqueues_);
                request.priority = buckets_[below(4)];
                break;
            case Kind::kNeighbours: {
                // The borders between nodes.
                const uint32_t border = buckets_[0] / WIDTH * WIDTH + kSpan;
                request.op = either(enqueues_);
                request.priority = (border + below(4) - 2) % kSpan;
                break;
            }
            case Kind::kLastElement:
                // Both ends in turn, with one element or none.
                request.op = (step & 1) == 0 ? kEnqueue : (step & 2) == 0 ? kMin : max();
                request.priority = chance(128) ? buckets_[0] : below(kSpan);
                if (chance(8)) request.op = either(128);
                break;
            case Kind::kPartitions:
                request.partition = partition_ = (partition_ + stride_) % PARTITIONS;
                request.op = either(enqueues_);
                request.priority = chance(128) ? buckets_[below(4)] : below(kSpan);
                break;
            case Kind::kFill:
                if (chance(switches_)) request.partition = partition_ = below(PARTITIONS);
                request.op = chance(4) ? either(0) : kEnqueue;
                request.priority = chance(same_) ? buckets_[below(4)] : below(kSpan);
                break;
            case Kind::kDrain:
                if (model.occupancy(partition_) == 0 && chance(64)) request.partition = partition_ = below(PARTITIONS);
                request.op = chance(2) ? kEnqueue : fixed_end_ != 0 ? fixed_end_ : either(0);
                request.priority = below(kSpan);
                break;
            case Kind::kAtFull:
                // An enqueue right behind a dequeue from a full queue.
                if (chance(switches_)) request.partition = partition_ = below(PARTITIONS);
                request.op = model.used() < ELEMENTS ? kEnqueue : chance(200) ? either(0) : kEnqueue;
                request.priority = chance(same_) ? buckets_[below(4)] : below(kSpan);
                break;
            case Kind::kKinds: break;
        }
        return request;
    }

  private:
    enum class Kind { kMix, kOneBucket, kFewBuckets, kNeighbours, kLastElement, kPartitions, kFill, kDrain, kAtFull, kKinds };

    uint32_t either(uint32_t enqueues) { return chance(enqueues) ? kEnqueue : chance(128) ? kMin : max(); }
    uint32_t max() { return chance(64) ? kMaxToo : kMax; }

    void choose() {
        kind_ = Kind(below(uint64_t(Kind::kKinds)));
        left_ = 1 + below(400);
        const bool whole = kind_ == Kind::kFill || kind_ == Kind::kDrain || kind_ == Kind::kAtFull;
        if (whole && chance(64)) left_ += ELEMENTS;
        gaps_ = chance(200) ? 0 : below(256);
        enqueues_ = chance(128) ? 128 : below(256);
        switches_ = chance(128) ? 0 : chance(128) ? 255 : below(256);
        same_ = below(256);
        stride_ = 1 + below(PARTITIONS);
        fixed_end_ = below(4);
        partition_ = below(PARTITIONS);
        step_ = below(4);
        for (auto& bucket : buckets_) bucket = chance(32) ? kSpan - 1 : below(kSpan);
    }

    std::mt19937_64 random_;
    Kind kind_ = Kind::kMix;
    uint32_t left_ = 0, gaps_ = 0, enqueues_ = 0, switches_ = 0, same_ = 0, stride_ = 0, fixed_end_ = 0, partition_ = 0, step_ = 0;
    uint32_t buckets_[4] = {};
};

// Bits of a port, however wide it is.
template <class Port>
uint32_t slice(const Port& port, uint32_t low, uint32_t bits) {
    const auto* words = reinterpret_cast<const uint8_t*>(&port);
    uint64_t value = 0;
    std::memcpy(&value, words + low / 8, std::min<size_t>(sizeof(value), sizeof(Port) - low / 8));
    return (value >> (low % 8)) & ((1ull << bits) - 1);
}

class Bench {
  public:
    explicit Bench(uint64_t seed) : work_(seed) {}

    bool run(uint64_t ops) {
        // At power-up, too, one cycle is enough.
        if (!reset(1 + (work_.chance(128) ? 0 : work_.below(3)))) return false;
        while (ops_ < ops) {
            if (now_ >= next_reset_ && !reset(1 + (work_.chance(128) ? 0 : work_.below(40)))) return false;
            dut_.valid_i = !work_.idle();
            if (dut_.valid_i != 0) {
                request();
            } else {
                scramble();
            }
            if (!cycle()) return false;
        }
        dut_.valid_i = 0;
        for (int i = 0; i < 64; i++) {
            if (!cycle()) return false;
        }
        if (!expected_.empty()) return fail("responses missing", expected_.size(), 0);
        for (const uint64_t seen : statuses_) {
            if (ops >= kAllSeen && seen == 0) return fail("a status never came, operations", ops, 0);
        }
        std::printf("  %" PRIu64 " operations (%" PRIu64 " ok, %" PRIu64 " full, %" PRIu64 " empty), %" PRIu64 " resets, latency %u\n", ops_,
                    statuses_[kOk], statuses_[kFull], statuses_[kEmpty], resets_, latency_);
        return true;
    }

  private:
    void request() {
        const Request request = work_.next(model_);
        scramble();
        dut_.op_i = request.op;
        dut_.partition_i = request.partition;
        if (request.op == kEnqueue) {
            dut_.priority_i = request.priority;
            dut_.data_i = request.data;
        }
        const uint32_t before = model_.occupancy(request.partition);
        Response response = model_.issue(request);
        response.cycle = now_ + LATENCY;
        expected_.push_back(response);
        const uint32_t after = model_.occupancy(request.partition);
        if (before != after) changes_.push_back({now_ + kOccupancyDelay, request.partition, after});
        ops_++;
        statuses_[response.status]++;
    }

    // Whatever is not asked for may have any value.
    void scramble() {
        dut_.op_i = work_.below(4);
        dut_.partition_i = work_.below(PARTITIONS);
        dut_.priority_i = work_.below(kSpan);
        dut_.data_i = work_.below(~0ull) & kDataMask;
    }

    // In its first cycle the outputs are still what they would be without it; from the next one on nothing is there any more.
    bool reset(unsigned cycles) {
        dut_.rst_ni = 0;
        for (unsigned i = 0; i < cycles; i++) {
            scramble();
            dut_.valid_i = work_.chance(128);
            if (!cycle()) return false;
            model_.reset();
            expected_.clear();
            changes_.clear();
            visible_.assign(PARTITIONS, 0);
        }
        dut_.rst_ni = 1;
        resets_++;
        // Sometimes long enough to fill the queue; often so soon that what came behind this reset is under way in the next one.
        const uint64_t long_while = 20000 + 3 * uint64_t(ELEMENTS);
        next_reset_ = now_ + (work_.chance(12) ? work_.below(long_while) : work_.chance(96) ? work_.below(2 * LATENCY) : work_.below(3000));
        return true;
    }

    bool cycle() {
        dut_.clk_i = 0;
        dut_.eval();
        if (dut_.ready_o != dut_.rst_ni) return fail("ready_o", dut_.rst_ni, dut_.ready_o);
        // At power-up outputs have any value, until the first cycle of reset is over.
        if (now_ != 0 && (!check_response() || !check_occupancy())) return false;
        dut_.clk_i = 1;
        dut_.eval();
        now_++;
        return true;
    }

    bool check_response() {
        const bool due = !expected_.empty() && expected_.front().cycle == now_;
        if (bool(dut_.valid_o) != due) return fail("valid_o", due, dut_.valid_o);
        if (!due) return true;
        const Response response = expected_.front();
        expected_.pop_front();
        if (dut_.status_o != response.status) return fail("status_o", response.status, dut_.status_o);
        if (dut_.op_o != response.op) return fail("op_o", response.op, dut_.op_o);
        if (dut_.partition_o != response.partition) return fail("partition_o", response.partition, dut_.partition_o);
        if (dut_.priority_o != response.priority) return fail("priority_o", response.priority, dut_.priority_o);
        if (dut_.data_o != response.data) return fail("data_o", response.data, dut_.data_o);
        return true;
    }

    bool check_occupancy() {
        uint32_t changed = now_ % PARTITIONS;
        for (; !changes_.empty() && changes_.front().cycle == now_; changes_.pop_front()) {
            changed = changes_.front().partition;
            visible_[changed] = changes_.front().occupancy;
        }
        for (const uint32_t partition : {changed, uint32_t(work_.below(PARTITIONS))}) {
            const uint32_t found = slice(dut_.occupancy_o, partition * kCountBits, kCountBits);
            if (found != visible_[partition]) return fail("occupancy_o", visible_[partition], found);
        }
        return true;
    }

    bool fail(const char* what, uint64_t expected, uint64_t found) {
        std::printf("  FAILED in cycle %" PRIu64 " after %" PRIu64 " operations: %s: expected %" PRIu64 ", got %" PRIu64 "\n", now_, ops_, what,
                    expected, found);
        return false;
    }

    struct Change {
        uint64_t cycle;
        uint32_t partition, occupancy;
    };

    Vtp_bbq dut_;
    Model model_;
    Workload work_;
    std::deque<Response> expected_;
    std::deque<Change> changes_;
    std::vector<uint32_t> visible_ = std::vector<uint32_t>(PARTITIONS, 0);
    uint64_t now_ = 0, ops_ = 0, resets_ = 0, next_reset_ = 0;
    uint64_t statuses_[3] = {};
    const unsigned latency_ = LATENCY;
};

}  // namespace

int main(int argc, char** argv) {
    uint64_t ops = 1'000'000, seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::strcmp(argv[i], "--ops") == 0) ops = std::strtoull(argv[i + 1], nullptr, 0);
        if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 0);
    }
    Verilated::commandArgs(argc, argv);
    // Memories and registers begin with whatever.
    Verilated::randReset(2);
    Verilated::randSeed(int(seed) + 1);
    Bench bench(seed);
    return bench.run(ops) ? 0 : 1;
}

// Every pass alone, and the default order, on copies of one module (run.h). What costs is interpretation, so
// a result that is structurally the module that went in is not interpreted again; nor is a copy that a pass
// left as it was made anew for the next.
#include <algorithm>
#include <chrono>

#include "ir-formats/hlo/compare.h"
#include "tools/hlo-opt/hlo/editor.h"
#include "tools/hlo-opt/hlo/run.h"

namespace ncc::hlo_passes {
namespace {

constexpr PassInfo kDefaultOrder{"default", nullptr, Stage::OnDemand, Rounding::Exact, "the default order"};

// Passes that find nothing, or refuse a module, unless another one has run.
struct Need {
  std::string_view pass, first;
};
constexpr Need kNeeds[] = {{"collective-stream-id-checker", "aws_neuron_collective_stream_id_injector"},
                           {"recognise-attention", "recognise-softmax"}};

std::vector<const PassInfo*> with_needs(const PassInfo& pass) {
  std::vector<const PassInfo*> list;
  for (const Need& row : kNeeds)
    if (row.pass == pass.name) list.push_back(find_pass(row.first));
  list.push_back(&pass);
  return list;
}

// What no value depends on is taken out: dead code, aliases, donors, promised layouts and tags.
std::unique_ptr<hlo::Module> bare(const hlo::Module& module) {
  std::unique_ptr<hlo::Module> copy = module.clone();
  copy->aliases.clear();
  copy->donors.clear();
  copy->frontend_attributes.clear();
  copy->entry_parameter_shapes.clear();
  copy->entry_result_shape = hlo::Shape();
  copy->has_entry_layout = false;
  for (const auto& computation : copy->computations()) {
    computation->remove_dead();
    for (const auto& inst : computation->instructions()) {
      if (!inst->has_attrs()) continue;
      inst->mutable_attrs().frontend_attributes.clear();
      inst->mutable_attrs().sharding.clear();
    }
  }
  copy->remove_unreachable();
  return copy;
}

bool same_ids(const std::vector<Instruction*>& a, const std::vector<Instruction*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Instruction* x, const Instruction* y) { return x->id == y->id; });
}

bool is_identical(const Instruction& a, const Instruction& b) {
  const auto same_name = [](const Computation* x, const Computation* y) { return x->name() == y->name(); };
  const bool same_literal = a.literal.bytes().data() == b.literal.bytes().data() || a.literal == b.literal;
  return a.id == b.id && a.opcode == b.opcode && a.direction == b.direction &&
         a.compare_type == b.compare_type && a.index == b.index && a.name == b.name &&
         a.dimensions == b.dimensions && a.shape == b.shape && same_ids(a.operands, b.operands) &&
         same_ids(a.control_predecessors, b.control_predecessors) &&
         std::equal(a.called.begin(), a.called.end(), b.called.begin(), b.called.end(), same_name) &&
         same_literal && a.attrs() == b.attrs();
}

// Down to names, ids and storage order; what is left of `bare` is compared, too.
bool is_identical(const hlo::Module& a, const hlo::Module& b) {
  const auto same_instructions = [](const auto& x, const auto& y) { return is_identical(*x, *y); };
  const auto same_computation = [&](const auto& x, const auto& y) {
    return x->name() == y->name() && x->root()->id == y->root()->id &&
           std::equal(x->instructions().begin(), x->instructions().end(), y->instructions().begin(),
                      y->instructions().end(), same_instructions);
  };
  return a.entry()->name() == b.entry()->name() && a.aliases == b.aliases && a.donors == b.donors &&
         a.frontend_attributes == b.frontend_attributes && a.replica_count == b.replica_count &&
         a.num_partitions == b.num_partitions && a.has_entry_layout == b.has_entry_layout &&
         a.entry_parameter_shapes == b.entry_parameter_shapes &&
         a.entry_result_shape == b.entry_result_shape &&
         std::equal(a.computations().begin(), a.computations().end(), b.computations().begin(),
                    b.computations().end(), same_computation);
}

class EachCheck {
 public:
  EachCheck(const hlo::Module& module, EquivalenceCheck check, const EachOptions& options)
      : module_(module), check_(std::move(check)), bare_(bare(module)), options_(options) {
    begin_ = std::chrono::steady_clock::now();
  }

  std::pair<Outcome, Status> run(const PassInfo& pass) {
    const bool is_order = &pass == &kDefaultOrder;
    if (!copy_) copy_ = module_.clone();
    int64_t changes = 0;
    RunOptions run = options_.run;
    run.passes = is_order ? std::vector<const PassInfo*>() : with_needs(pass);
    run.after = [&](const PassInfo&, const hlo::Module&, int64_t done, int64_t) { changes += done; };
    const Status ran = run_passes(*copy_, run);
    if (ran.is_ok() && changes == 0 && is_identical(module_, *copy_)) return {Outcome::Unchanged, ran};
    const std::unique_ptr<hlo::Module> copy = std::move(copy_);
    if (!ran.is_ok()) return {Outcome::Wrong, ran};
    std::string difference;
    if (hlo::same_module(*bare_, *bare(*copy), &difference)) return {Outcome::Unchanged, Status::ok()};
    if (changes == 0)
      return {Outcome::Wrong, error(Code::EINT901, fmt::format("pass {}", pass.name),
                                    "it reports no change but made one: " + difference)};
    if (is_late()) return {Outcome::Untested, Status::ok()};
    EquivalenceCheck own = check_;
    const Status status = own.compare(*copy, pass);
    if (status.is_ok()) return {Outcome::Equal, status};
    return {Outcome::Wrong, is_order ? guilty(status) : status};
  }

 private:
  bool is_late() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
    return options_.seconds > 0 && spent.count() > options_.seconds;
  }

  // The default order again, each pass checked.
  Status guilty(const Status& known) const {
    const std::unique_ptr<hlo::Module> copy = module_.clone();
    EquivalenceCheck own = check_;
    RunOptions run = options_.run;
    run.passes.clear();
    run.check = &own;
    run.is_checked = [](const PassInfo&) { return true; };
    const Status status = run_passes(*copy, run);
    return status.is_ok() ? known : status;
  }

  const hlo::Module& module_;
  EquivalenceCheck check_;
  std::unique_ptr<hlo::Module> bare_, copy_;
  const EachOptions& options_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace

Status check_each_pass(const hlo::Module& module, const std::vector<hlo::Literal>& args,
                       const EachOptions& options,
                       const std::function<void(std::string_view pass, Outcome, const Status&)>& report) {
  const std::unique_ptr<hlo::Module> marked = module.clone();
  NCC_TRY(tidy(*marked));
  NCC_ASSIGN(EquivalenceCheck prepared, EquivalenceCheck::prepare(*marked, args));
  EachCheck check(*marked, std::move(prepared), options);
  const auto checked = [&](const PassInfo& pass) {
    const auto [outcome, status] = check.run(pass);
    report(pass.name, outcome, status);
  };
  for (const PassInfo* pass : options.run.passes) checked(*pass);
  if (!options.run.passes.empty()) return Status::ok();
  for (const PassInfo& pass : all_passes()) checked(pass);
  checked(kDefaultOrder);
  return Status::ok();
}

}  // namespace ncc::hlo_passes

/**
 * Enters and leaves plan mode. Both ask the user, because they change rights: no rule, mode or classifier may answer.
 * The user's answer is recorded before the mode changes, and the new mode before it is reported.
 */
import type { AskReply } from "../../abi/ask.ts";
import { Fault } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { asCallId, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { PlanEntered, PlanLeft, PlanPrompt } from "../../abi/permit/plan.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { AskedQuestion } from "../../abi/wire-events.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type { PlanLeaving, Plans } from "../../kernel/ports/plans.ts";
import type { Process } from "../../kernel/process/process.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";
import { checkRaise, type ModeKernel, modeView, setMode } from "../../kernel/process/rights/set-mode.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import type { AskHooks, Asks, PersonAnswer } from "../ask/asks.ts";
import { digestOf } from "../ask/digest.ts";
import { type Answering, keptInJournal } from "../ask/person-answer.ts";
import type { Grants } from "../grants/grants.ts";
import { ruleOfMeaning } from "../grants/meaning.ts";
import { answerPlan, askLead, plansFirst, type TeamPlanning } from "./team-plans.ts";

const FILE = "plan.md";

export function makePlans(coreOf: () => Planning): Plans {
  const find = (pid: Pid): Process => coreOf().table.require(PID_KERNEL, pid, "Plan", "see");
  return {
    pathOf: (pid) => pathOf(coreOf().table.get(pid)),
    enter: (pid, reason, signal) => enter({ core: coreOf(), proc: find(pid), signal }, reason),
    leave: (pid, leaving, signal) => leave({ core: coreOf(), proc: find(pid), signal }, leaving),
    answer: (by, verdict) => {
      const core = coreOf();
      return answerPlan(core, by, { ...verdict, mode: (proc) => wayBack(core, proc) });
    },
  };
}

export function pathOf(proc: Process | undefined): string | null {
  const scratch = proc?.seed.scratch ?? "";
  return scratch === "" ? null : `${scratch}/${FILE}`;
}

/** What planning needs of the kernel. */
interface Planning extends ModeKernel, Answering, Omit<TeamPlanning, "ports" | "table"> {
  readonly ports: ModeKernel["ports"] & Answering["ports"] & TeamPlanning["ports"];
  readonly table: TeamPlanning["table"] & Pick<ProcessTable, "lineOf" | "require">;
  readonly grants: Pick<Grants, "add" | "ceiling">;
  readonly asks: Pick<Asks, "ask" | "canAsk">;
}

/** A process that enters or leaves plan mode. */
interface Way {
  readonly core: Planning;
  readonly proc: Process;
  /** Cancels the tool call. */
  readonly signal: AbortSignal;
}

async function enter(way: Way, reason: string): Promise<PlanEntered> {
  const { core, proc } = way;
  const path = pathOf(proc);
  if (proc.mode === "plan") throw conflict("it is in plan mode already");
  if (path === null) throw new Fault({ code: "UNAVAILABLE", message: "it has no folder for a plan" });
  const detail = reason.trim() === "" ? "" : `reason: ${reason}`;
  const question = questionOf(way, {
    tool: "plan_enter",
    text: "planning first: nothing is changed before you have approved the plan",
    detail,
    digest: digestOf("plan_enter", JSON.stringify({ reason }), []),
  });
  const { answer, by } = await askPerson(way, question);
  if (answer.answer !== "yes") throw refused(answer);
  // the user may have set plan mode meanwhile; setting it again does no harm
  await setMode(core, proc, { mode: "plan", by: { ...by, isPerson: true } });
  return { path };
}

async function leave(way: Way, { plan, prompts }: PlanLeaving): Promise<PlanLeft> {
  const { core, proc, signal } = way;
  if (proc.mode !== "plan") throw conflict("it is not in plan mode");
  checkPlan(plan);
  if (plansFirst(proc)) return askLead(core, proc, plan, pathOf(proc) ?? "");
  const { turns } = proc.dial;
  const to = wayBack(core, proc);
  const question = questionOf(way, {
    tool: "plan_exit",
    text: `the plan, and continue in ${to} mode`,
    detail: [plan, ...promptLines(prompts)].join("\n"),
    digest: digestOf("plan_exit", JSON.stringify({ plan, prompts }), [{ kind: "mode", to }]),
    arguments: JSON.stringify({ plan }),
    modes: otherModes(core, proc, to),
  });
  const { answer, by } = await askPerson(way, question);
  if (answer.answer !== "yes") return { kind: "rejected", words: answer.words };
  if (proc.dial.turns !== turns) throw conflict("its mode was changed while the plan was being read");
  const approved = typeof answer.input?.plan === "string" ? answer.input.plan : plan;
  for (const { prompt } of prompts) {
    const wish = { behavior: "allow", rule: ruleOfMeaning(prompt), scope: "session", by } as const;
    await core.grants.add(proc, wish, { signal });
  }
  const mode = otherModes(core, proc).find((each) => each === answer.words) ?? wayBack(core, proc);
  await setMode(core, proc, { mode, by: { ...by, isPerson: true } });
  return { kind: "approved", mode, plan: approved, wasEdited: approved !== plan };
}

const MODES = ["default", "accept_edits", "auto"] as const satisfies readonly PermissionMode[];

/** In which the user may have a plan carried out, beside `than`. */
function otherModes(core: Planning, proc: Process, than?: PermissionMode): readonly PermissionMode[] {
  return MODES.filter((mode) => mode !== than && canEnter(core, proc, mode));
}

function canEnter(core: Planning, proc: Process, mode: PermissionMode): boolean {
  try {
    checkRaise(core, proc, { mode, isPerson: true });
    return true;
  } catch {
    return false;
  }
}

/** The mode before plan mode, but no higher than the ceiling, and `default` if that mode may not be entered now. */
function wayBack(core: Planning, proc: Process): PermissionMode {
  const mode = lowest(proc.dial.prior ?? "default", modeView(core, proc).ceiling);
  return canEnter(core, proc, mode) ? mode : lowest(mode, "default");
}

function checkPlan(plan: string): void {
  if (plan.trim() === "") throw new Fault({ code: "INVALID", message: "the plan is empty" });
  if (plan.length <= LIMITS.planChars) return;
  const message = `the plan has ${plan.length} characters; at most ${LIMITS.planChars}`;
  throw new Fault({ code: "INVALID", message });
}

function promptLines(prompts: readonly PlanPrompt[]): readonly string[] {
  if (prompts.length === 0) return [];
  return [
    "",
    "it would then run without asking, as far as a model finds it to be that:",
    ...prompts.map(({ prompt }) => `  ${prompt}`),
  ];
}

type Question = AskedQuestion & { readonly tool: string };

function questionOf({ core, proc }: Way, own: Omit<Question, "options" | "path" | "opened_at">): Question {
  const openedAt = core.ports.clock.now();
  return { ...own, options: ["yes", "no"], path: core.table.lineOf(proc), opened_at: openedAt };
}

/** PERMISSION: no client can answer. */
async function askPerson(
  way: Way,
  question: Question,
): Promise<{ readonly answer: PersonAnswer; readonly by: GrantBy }> {
  const { core, proc, signal } = way;
  if (!core.asks.canAsk(proc)) throw nobody("no person is attached who could answer");
  let by: GrantBy = { principal: "user", client: "", uid: null };
  const hooks = hooksOf(way, (who) => {
    by = who;
  });
  const answer = await proc.halt.quiescence.suspend(core.asks.ask(proc, question, { signal, ...hooks }));
  if (answer.nobody !== undefined) throw nobody(answer.nobody);
  return { answer, by };
}

function hooksOf({ core, proc, signal }: Way, onAnswer: (by: GrantBy) => void): AskHooks {
  const callId = asCallId(`c_${core.ports.nonce()}`);
  const kept = keptInJournal({ core, self: proc, syscall: "Write", callId, signal });
  return {
    ...kept,
    close: async (ask, reply, by) => {
      checkReply(reply, ask.modes);
      const note = (await kept.close?.(ask, reply, by)) ?? "";
      onAnswer(by);
      return note;
    },
  };
}

/** INVALID: the edited plan is missing, empty or too long, or the mode is none of those offered. */
function checkReply({ answer, input, words = "" }: AskReply, modes: readonly string[] = []): void {
  if (answer !== "yes") return;
  if (words !== "" && modes.length > 0 && !modes.includes(words))
    throw new Fault({
      code: "INVALID",
      message: `no mode to continue in: ${words}; offered: ${modes.join(", ")}`,
    });
  if (input === undefined) return;
  if (typeof input.plan !== "string" || Object.keys(input).length !== 1)
    throw new Fault({ code: "INVALID", message: 'the plan is changed as {"plan": "…"}' });
  checkPlan(input.plan);
}

function conflict(message: string): Fault {
  return new Fault({ code: "CONFLICT", message });
}

function refused({ words }: PersonAnswer): Fault {
  const said = words === "" ? "" : `: ${words}`;
  return new Fault({ code: "PERMISSION", message: `the user does not want a plan first${said}` });
}

function nobody(why: string): Fault {
  const hint = "continue in the current mode, or say what the user has to decide";
  return new Fault({ code: "PERMISSION", message: `only the user can approve it, but ${why}`, hint });
}

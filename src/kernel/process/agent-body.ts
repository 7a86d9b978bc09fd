/** An agent: a context, its servers, its model at fd 3, and the reasoning loop of user space. */
import type { AgentInfo } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import { printed } from "../../abi/errors.ts";
import { asFd, type Fd } from "../../abi/ids.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import type { ProgramContext } from "../../abi/program.ts";
import { isAutoActive } from "../../consent/classify/auto-mode.ts";
import { pathOf } from "../../consent/plan/plans.ts";
import { redactedText } from "../../consent/redact/model-bound.ts";
import { keepState } from "../../history/recover/kept-state.ts";
import { recorded } from "../../history/replay/recorder.ts";
import { taped } from "../../history/replay/taped.ts";
import { abortable } from "../../lib/abort.ts";
import { localDay } from "../../lib/local-day.ts";
import { programSession } from "../../session/program-session.ts";
import { keptAbove } from "../account/kept-account.ts";
import { asksAtLimit } from "../account/raise.ts";
import type { Core } from "../core.ts";
import { tellCall } from "../gate/call-told.ts";
import { LIMITS } from "../limits.ts";
import type { Body, Making } from "./body.ts";
import { freeContexts } from "./end/reap.ts";
import type { Process } from "./process.ts";
import { settleMode } from "./rights/settle-mode.ts";
import { writeResult } from "./spawn/stdio.ts";

export function agentBody(agent: AgentInfo | null): Body {
  return {
    kind: "agent",
    name: agent?.manifest.name ?? "",
    agent,
    isActive: true,
    prepare,
    run: async (core, proc) => {
      const exit = await recorded(core, proc, (tape) =>
        core.ports.program(taped(tape, contextOf(core, proc))),
      );
      await writeResult(core, proc);
      return exit;
    },
    onSignal: endsRunAlone,
    record: (proc) => ({ model: proc.model, modelDevice: proc.modelDevice, ...keptAbove(proc.seed.account) }),
    keep: keepState,
  };
}

/** INT ends the run of a session, and not the session. */
function endsRunAlone(_core: Core, { conversation }: Process, signal: Signal): boolean {
  if (conversation === null || signal !== SIGNALS.SIGINT) return false;
  conversation.interrupt();
  return true;
}

async function prepare(making: Making): Promise<void> {
  const { core, proc, opts, undo } = making;
  proc.ctxId = core.contexts.alloc(LIMITS.contextMessages);
  proc.contexts.add(proc.ctxId);
  undo.push(() => freeContexts(core, proc));
  const prompt = redactedText(core, proc, systemPrompt(proc.seed.agent, opts.systemPrompt ?? ""));
  core.contexts.setSystemPrompt(proc.ctxId, prompt);
  // a session may begin without words
  if (proc.seed.intent !== "") core.contexts.append(proc.ctxId, { role: "user", content: proc.seed.intent });
  await core.mounts.mountAll(making, proc.seed.agent?.manifest.mcp ?? []);
  await openModel(making);
  settleMode(making);
}

function systemPrompt(agent: AgentInfo | null, more: string): string {
  return [agent?.systemPrompt ?? "", more].filter((part) => part !== "").join("\n\n");
}

/** fd 3. The open is the first call of the child's own trace. */
async function openModel({ core, proc, opts, signal }: Making): Promise<void> {
  const { agent, env } = proc.seed;
  const wish = {
    model: opts.model ?? "",
    provider: agent?.manifest.models.provider ?? "",
    preferred: agent?.manifest.models.preferred ?? "",
    fallback: agent?.manifest.models.fallback ?? "",
  };
  const choice = await abortable(core.ports.models.resolve({ ...wish, env }, signal), signal);
  proc.modelDevice = choice.device;
  proc.model = choice.model;
  proc.notice = choice.notice ?? "";
  if (choice.remark !== undefined) proc.log("warn", choice.remark, core.ports.clock.mono());
  await core.handle(proc, null).open(choice.device, O_RDWR, signal);
}

/** How a thread differs from the process it runs in. */
interface ThreadSeat {
  readonly intent: string;
  readonly modelFd: Fd;
  readonly maxSteps: number;
  readonly signal: AbortSignal;
  setResult(text: string): void;
}

export function contextOf(core: Core, proc: Process, seat?: ThreadSeat): ProgramContext {
  const { conversation } = proc;
  const context = (ofRun?: AbortSignal) => seatContext(core, proc, seat, ofRun);
  if (seat !== undefined || conversation === null) return context();
  const session = programSession(core, proc, conversation, (signal) => ({ ...context(signal), session }));
  return { ...context(), session };
}

/** `ofRun`: one run of a session ends with it. */
function seatContext(
  core: Core,
  proc: Process,
  seat: ThreadSeat | undefined,
  ofRun: AbortSignal | undefined,
): ProgramContext {
  const { seed, pid } = proc;
  const maxSteps = seat?.maxSteps ?? seed.maxSteps;
  const signal = seat?.signal ?? ofRun ?? proc.abort.signal;
  return {
    sys: core.handle(proc, null, seat?.signal ?? ofRun),
    pid,
    ctxId: proc.ctxId,
    intent: seat?.intent ?? seed.intent,
    agent: seed.agent,
    cwd: seed.cwd,
    modelFd: seat?.modelFd ?? asFd(3),
    modelDevice: proc.modelDevice,
    model: proc.model,
    maxSteps,
    signal,
    clock: core.ports.clock,
    random: core.ports.random,
    today: () => localDay(core.ports.clock.now()),
    input: seat === undefined && proc.fds.has(asFd(0)) ? asFd(0) : null,
    mounts: core.mounts.namedBy(pid),
    toolset: 2,
    restored: seat === undefined ? proc.restored : null,
    checkpoint: (state) => {
      if (seat === undefined) noteCheckpoint(core, proc, { state });
    },
    addToCheckpoint: (part) => {
      if (seat === undefined) noteCheckpoint(core, proc, { part });
    },
    session: null,
    hasMail: () => seat === undefined && proc.mailbox?.isReady === true,
    isPaused: () => proc.paused !== null,
    ...(seat === undefined ? { standing: () => standingOf(core, proc) } : {}),
    unit: (act) => proc.units.run(act),
    waitIfPaused: () => proc.untilResumed(signal),
    account: () => ({ ...seed.account.view(), ...(asksAtLimit(core, proc) ? { asks: true } : {}) }),
    onStep: (step) => proc.tell({ event: "step", pid, step, total: maxSteps }, core.ports.clock.mono()),
    said: (text) => proc.tell({ event: "said", pid, text }, core.ports.clock.mono()),
    called: (call) => tellCall(core, proc, call),
    setActivity: (activity) => {
      if (!proc.isLive) return;
      proc.activity = activity;
      proc.workChanged();
    },
    setResult:
      seat?.setResult ??
      ((text) => {
        if (proc.isLive) proc.result = text;
      }),
    log: (level, message) => proc.log(level, message, core.ports.clock.mono()),
  };
}

function standingOf(core: Core, proc: Process): string {
  if (proc.mode === "plan") return `plan ${pathOf(proc) ?? ""}`.trimEnd();
  return isAutoActive(core, proc) ? "auto" : "";
}

/** One that is paused may be the one that a later daemon brings back: then it does not wait for company. */
function noteCheckpoint(core: Core, proc: Process, body: { state: unknown } | { part: unknown }): void {
  // what a program does after its end does not count
  if (proc.isResting || proc.revoked) return;
  core.note(proc, "process.checkpoint", body);
  if (proc.paused === null) return;
  core.ports.journal.sync().catch((error: unknown) => {
    core.ports.log("error", `pid ${proc.pid}: its place could not be recorded: ${printed(error)}`);
  });
}

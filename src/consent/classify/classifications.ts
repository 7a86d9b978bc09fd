/**
 * Judges calls in place of the user. A call that would need approval is shown to the process's own model, in one or two
 * stages; only a clear verdict lets the call through. On any failure the user is asked after all.
 */
import { codeOf, messageOf } from "../../abi/errors.ts";
import { RETRYABLE_KINDS, type Usage } from "../../abi/llm.ts";
import { findLlmError } from "../../abi/llm-error.ts";
import { LIMITS } from "../../kernel/limits.ts";
import type {
  ClassifierRequest,
  ClassifierStage,
  ClassifierVerdict,
  JudgedCall,
  Judging,
} from "../../kernel/ports/classifier.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type ModeKernel, setMode } from "../../kernel/process/rights/set-mode.ts";
import type { Session } from "../../kernel/process/session.ts";
import { agentsIntents, type Family } from "../../kernel/process/users-words.ts";
import { Semaphore } from "../../lib/semaphore.ts";
import { estimateTokens } from "../../lib/tokens.ts";
import type { ClassifierAnswer } from "./answer.ts";
import type { ApprovedCall, Judge, Judgement } from "./judge.ts";
import { type Calling, callModel } from "./model-call.ts";

/** A classification as the journal stores it. */
interface ClassifierResult {
  readonly tool: string;
  readonly about: "call" | "meaning";
  readonly shouldBlock: boolean;
  readonly verdict: ClassifierVerdict["kind"] | null;
  readonly reason: string;
  readonly thinking?: string;
  readonly unavailable?: true;
  readonly transcriptTooLong?: true;
  readonly model: string;
  readonly stage?: ClassifierStage;
  readonly usage: Usage | null;
  readonly latencyMs: number;
}

/** What classifications need of the kernel. */
type Classifying = Calling &
  Failing &
  Family & {
    readonly grants: { meanings(self: Process): readonly string[] };
    note(self: Process, kind: "permit.classified", body: ClassifierResult): void;
  };

interface Question {
  readonly tool: string;
  readonly about: ClassifierResult["about"];
  readonly stage: ClassifierStage;
  readonly request: ClassifierRequest;
}

type Asked =
  | { readonly kind: "answered"; readonly verdict: ClassifierVerdict; readonly answer: ClassifierAnswer }
  | { readonly kind: "unavailable" | "too_long" | "unpaid"; readonly why: string };

const STAGE_MS: Readonly<Record<ClassifierStage, number>> = { fast: 10_000, thinking: 30_000 };
const MAX_SINCE = 64;
const MAX_THINKING_CHARS = 16_000;

export class Classifications implements Judge {
  readonly #core: () => Classifying;
  /** Calls permitted but not yet in the context, as long as the context has this many messages. */
  readonly #since = new WeakMap<Process, { messages: number; readonly calls: JudgedCall[] }>();
  /** How many run at once in the whole kernel: they run in the middle of other calls. */
  readonly #turns = new Semaphore(LIMITS.classifications);

  constructor(core: () => Classifying) {
    this.#core = core;
  }

  passed(self: Process, call: JudgedCall): void {
    const calls = this.#sinceOf(self);
    calls.push(call);
    if (calls.length > MAX_SINCE) calls.shift();
  }

  async judge(self: Process, pending: JudgedCall, signal: AbortSignal): Promise<Judgement> {
    const { classifier } = this.#core().ports;
    if (classifier === undefined) return { kind: "ask", why: "" };
    const judging = this.#judging(self, pending);
    const stages = classifier.stages();
    const first = stages === "thinking" ? "thinking" : "fast";
    const ask = (stage: ClassifierStage): Promise<Asked> => {
      const request = classifier.request(judging, stage);
      return this.#ask(self, { tool: pending.tool, about: "call", stage, request }, signal);
    };
    const asked = await ask(first);
    const isFinal = stages !== "both" || isAllowed(asked) || asked.kind !== "answered";
    return judgementOf(pending, isFinal ? asked : await ask("thinking"));
  }

  async isMeant(
    self: Process,
    { approved, ...pending }: ApprovedCall,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { classifier } = this.#core().ports;
    if (classifier === undefined) return false;
    const request = classifier.meaning({ ...this.#judging(self, pending), approved });
    const question = { tool: pending.tool, about: "meaning", stage: "fast", request } as const;
    return isAllowed(await this.#ask(self, question, signal));
  }

  #judging(self: Process, pending: JudgedCall): Judging {
    const core = this.#core();
    const { messages } = core.contexts.prompt(self.ctxId);
    const approved = core.grants.meanings(self);
    const tasks = agentsIntents(core, self);
    return { messages, tasks, since: [...this.#sinceOf(self)], pending, roots: self.roots, approved };
  }

  #sinceOf(self: Process): JudgedCall[] {
    const count = this.#core().contexts.prompt(self.ctxId).messages.length;
    const known = this.#since.get(self);
    if (known?.messages === count) return known.calls;
    const calls: JudgedCall[] = [];
    this.#since.set(self, { messages: count, calls });
    return calls;
  }

  async #ask(self: Process, question: Question, signal: AbortSignal): Promise<Asked> {
    const core = this.#core();
    const began = core.ports.clock.mono();
    const asked = await this.#turns.pass(() => this.#answer(self, question, signal), signal);
    const latencyMs = Math.round(core.ports.clock.mono() - began);
    core.note(self, "permit.classified", resultOf(self, { ...question, latencyMs }, asked));
    if (asked.kind === "answered" || asked.kind === "unavailable")
      await noteClassified(core, self, asked.kind === "unavailable");
    return asked;
  }

  /** Retries once after a transient failure. */
  async #answer(self: Process, { request, stage }: Question, signal: AbortSignal): Promise<Asked> {
    const core = this.#core();
    const { classifier, models } = core.ports;
    const most = models.classifierCard?.(self.model.device, self.model.name, self.seed.env).maxInputTokens;
    const words = [...request.system.map(({ text }) => text), JSON.stringify(request.messages)].join("\n");
    if (most !== undefined && estimateTokens(words) > most)
      return { kind: "too_long", why: "the conversation is too long for it" };
    for (let isAgain = false; ; isAgain = true) {
      try {
        const answer = await callModel({ core, self, request }, STAGE_MS[stage], signal);
        const verdict = classifier?.verdict(answer.text) ?? { kind: "block", reason: "" };
        return { kind: "answered", verdict, answer };
      } catch (error) {
        if (signal.aborted) throw error;
        const failure = failureOf(error);
        if (isAgain || !isTransient(error)) return failure;
      }
    }
  }
}

function isAllowed(asked: Asked): boolean {
  return asked.kind === "answered" && asked.verdict.kind === "allow";
}

function judgementOf({ tool }: JudgedCall, asked: Asked): Judgement {
  if (asked.kind !== "answered")
    return { kind: "ask", why: `the classifier cannot judge ${tool}: ${asked.why}` };
  const { verdict, answer } = asked;
  const reason = verdict.reason === "" ? "" : `: ${verdict.reason}`;
  if (verdict.kind === "ask")
    return { kind: "ask", why: `the classifier ${answer.model} leaves it to you${reason}` };
  if (verdict.kind === "allow") return { kind: "allow", why: `the classifier ${answer.model}` };
  return { kind: "deny", why: `the classifier ${answer.model} blocked this call of ${tool}${reason}` };
}

function failureOf(error: unknown): Exclude<Asked, { kind: "answered" }> {
  const why = messageOf(error).slice(0, LIMITS.journalWordsChars);
  if (findLlmError(error)?.kind === "prompt_too_long") return { kind: "too_long", why };
  return { kind: codeOf(error) === "BUDGET" ? "unpaid" : "unavailable", why };
}

function isTransient(error: unknown): boolean {
  const fault = findLlmError(error);
  if (fault !== undefined) return fault.shouldRetry ?? RETRYABLE_KINDS.has(fault.kind);
  const code = codeOf(error);
  return code === "TIMEOUT" || code === "DRIVER";
}

function resultOf(
  { model: { name: model } }: Process,
  { tool, about, stage, latencyMs }: Question & { readonly latencyMs: number },
  asked: Asked,
): ClassifierResult {
  const own = { tool, about, stage, latencyMs };
  if (asked.kind !== "answered") {
    const why =
      asked.kind === "too_long" ? ({ transcriptTooLong: true } as const) : ({ unavailable: true } as const);
    return { ...own, ...why, shouldBlock: true, verdict: null, reason: asked.why, model, usage: null };
  }
  const { verdict, answer } = asked;
  const thinking = (answer.thinking || thoughtIn(answer.text)).slice(0, MAX_THINKING_CHARS).toWellFormed();
  return {
    ...own,
    shouldBlock: verdict.kind !== "allow",
    verdict: verdict.kind,
    reason: verdict.reason,
    ...(thinking === "" ? {} : { thinking }),
    model: answer.model,
    usage: answer.usage,
  };
}

function thoughtIn(text: string): string {
  return /<thinking>([\s\S]*?)<\/thinking>/i.exec(text)?.[1]?.trim() ?? "";
}

/** What counting failures needs of the kernel. */
interface Failing extends ModeKernel {
  readonly ports: ModeKernel["ports"] & Pick<KernelPorts, "log">;
}

/** Counts a finished classification; the fifth failure in a row ends auto mode for the whole session. */
async function noteClassified(core: Failing, { seed }: Process, isFailed: boolean): Promise<void> {
  const { session } = seed;
  const { circuit } = session;
  if (!isFailed) {
    if (circuit.recordSuccess()) keep(core, session);
    return;
  }
  const isBroken = circuit.recordFailure();
  keep(core, session);
  if (!isBroken) return;
  core.ports.log("warn", `session of pid ${session.owner?.pid ?? 0}: the classifier failed too often`);
  const by = { principal: "kernel", client: "", uid: null, isPerson: false };
  for (const proc of [...core.table.all()])
    if (proc.seed.session === session && proc.isLive && proc.mode === "auto")
      await setMode(core, proc, { mode: "default", by });
}

function keep({ ports }: ModeKernel, { owner, circuit }: Session): void {
  circuit.isKnown = true;
  if (owner !== null) ports.journal.note([{ ...owner, kind: "permit.circuit", v: 1, body: circuit.state }]);
}

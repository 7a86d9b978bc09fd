/**
 * Questions of an agent to its user, answered by options or by free text. They are shown to clients like questions of
 * the gate, and the first answer counts; but an answer never permits anything.
 */

import { hash } from "node:crypto";
import type { QuestionAnswer, QuestionItem, QuestionOutcome } from "../../abi/ask.ts";
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import type { AskHooks, Asks } from "./asks.ts";

/** Hex digits of a digest. 64 of them would be the name of a blob. */
const DIGITS = 40;

const ABSENT = "no person is attached who could answer";

interface Asking {
  readonly core: {
    readonly ports: Pick<KernelPorts, "journal">;
    readonly asks: Pick<Asks, "ask" | "canAsk">;
    readonly table: Pick<ProcessTable, "lineOf">;
  };
  readonly proc: Process;
  readonly items: readonly QuestionItem[];
}

/** Rejects with the signal's reason if it fires before an answer; the question is void then. */
export async function askPerson(asking: Asking, signal: AbortSignal): Promise<QuestionOutcome> {
  const { core, proc, items } = asking;
  if (!core.asks.canAsk(proc)) return { kind: "nobody", reason: ABSENT };
  const [first] = items;
  const text = items.length === 1 && first !== undefined ? first.question : `${items.length} questions`;
  // of one that another process started the user may never have heard
  const path = proc.ppid === PID_KERNEL ? {} : { path: core.table.lineOf(proc) };
  const asked = { text, options: ["yes", "no"], questions: items, ...path } as const;
  const waiting = core.asks.ask(proc, asked, { signal, ...hooksOf(asking) });
  const given = await proc.halt.quiescence.suspend(waiting);
  if (given.nobody !== undefined) return { kind: "nobody", reason: given.nobody };
  if (given.answer !== "yes") return { kind: "dismissed" };
  return { kind: "answered", answers: given.answers ?? [] };
}

function hooksOf({ core, proc, items }: Asking): AskHooks {
  const record = { proc: proc.seed.uuid, pid: proc.pid, v: 1 };
  const digest = hash("sha256", JSON.stringify(items)).slice(0, DIGITS);
  return {
    digest,
    open: async ({ ask_id: id }) => {
      await core.ports.journal.append([{ ...record, kind: "person.question", body: { id, items, digest } }]);
    },
    close: async ({ ask_id: id }, { answer, answers = [] }) => {
      if (answer === "yes") checkAnswers(items, answers);
      const body = { id, ...(answer === "yes" ? { answers } : { dismissed: true }) };
      await core.ports.journal.append([{ ...record, kind: "person.answer", body }]);
      return "";
    },
  };
}

/** INVALID: an answer is missing or is not one of the options. */
function checkAnswers(items: readonly QuestionItem[], answers: readonly QuestionAnswer[]): void {
  if (answers.length !== items.length)
    throw invalid(`${items.length} questions need as many answers: ${answers.length}`);
  for (const [i, { options, multi_select: isMulti, question }] of items.entries()) {
    const { chosen = [], text = "" } = answers[i] ?? {};
    const stranger = chosen.find((label) => !options.some((option) => option.label === label));
    if (stranger !== undefined) throw invalid(`not an option of "${question}": ${stranger.slice(0, 200)}`);
    if (chosen.length > 1 && !isMulti) throw invalid(`"${question}": one option, not more`);
    if (chosen.length === 0 && text.trim() === "") throw invalid(`no answer to "${question}"`);
  }
}

function invalid(message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code: "INVALID", message });
}

/** A one-line note that the user pins to a process to recognize it. A fork inherits it. It is part of no prompt. */

import { Fault } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import { type Facts, type LiveFacet, plainFacet } from "../facts/facet.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { JournalHold } from "../ports/journal-hold.ts";

/** A note that the user pins; "" removes the present one. */
interface Pinned {
  readonly text: string;
  readonly by: GrantBy;
}

/** The body of `process.note`, version 1. */
interface NoteBody {
  /** "" removes the note. */
  readonly text: string;
  /** Who set it; absent: a fork inherited it from its origin. */
  readonly by?: GrantBy;
}

const MAX_CHARS = 200;

/** The current note; "" for none. */
export const noteFacet: LiveFacet<string> = plainFacet("note", {
  init: "",
  folds: { "process.note": (_now, { text }) => String(text) },
  carry: (text) => (text === "" ? undefined : { kind: "process.note", body: { text } satisfies NoteBody }),
  isEarly: true,
  isHeld: true,
});

type Env = Readonly<Record<string, string>>;

export interface Noting {
  readonly ports: {
    readonly journal: {
      append(drafts: readonly JournalDraft[]): Promise<unknown>;
      processOf(pid: Pid): Promise<ProcUuid | undefined>;
    };
  };
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  readonly sessions: {
    isHere(pid: Pid): boolean;
    awake(pid: Pid, options?: { readonly env?: Env }): Promise<unknown>;
  };
  readonly table: { get(pid: Pid): Noted | undefined };
}

interface Noted {
  readonly seed: { readonly uuid: ProcUuid };
  readonly facts: Facts;
  /** Redacts secrets in text that others may read. */
  wording(text: string): string;
}

/**
 * Resolves once the note is synced. NOT_FOUND: no such process. CONFLICT: it has ended. INVALID: more
 * than one line, too long, or the kernel's own process.
 */
export async function pinNote(core: Noting, pid: Pid, { text, by }: Pinned): Promise<void> {
  if (pid === PID_KERNEL) throw invalid("the kernel's own process takes no note");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text))
    throw invalid("a note is one line of plain text");
  const { length } = [...text];
  if (length > MAX_CHARS) throw invalid(`a note of ${length} characters; at most ${MAX_CHARS}`);
  const proc = await notable(core, pid, { syscall: "Note", what: "note" });
  const body: NoteBody = { text: proc.wording(text), by };
  await core.ports.journal.append([{ proc: proc.seed.uuid, pid, kind: "process.note", v: 1, body }]);
  proc.facts.change(noteFacet, "process.note", body);
}

/** The process, brought into memory, so that its user can change a fact of it. Rejects if it has ended. */
export async function notable<P extends Noted>(
  core: Omit<Noting, "table"> & { readonly table: { get(pid: Pid): P | undefined } },
  pid: Pid,
  { syscall, what, env }: Change,
): Promise<P> {
  core.journalWatch.check(syscall);
  if (!core.sessions.isHere(pid)) await core.sessions.awake(pid, env === undefined ? {} : { env });
  return core.table.get(pid) ?? refuseGone(core, pid, what);
}

interface Change {
  readonly syscall: string;
  /** What is changed, in the words of a refusal. */
  readonly what: string;
  /** The environment of the client, for a resting session. */
  readonly env?: Env | undefined;
}

async function refuseGone({ ports }: Pick<Noting, "ports">, pid: Pid, what: string): Promise<never> {
  if ((await ports.journal.processOf(pid)) === undefined)
    throw new Fault({
      code: "NOT_FOUND",
      message: `process not found: ${pid}`,
      fact: { kind: "no_history", pid },
    });
  const message = `process ${pid} has ended: its ${what} cannot change any more`;
  throw new Fault({ code: "CONFLICT", message, fact: { kind: "ended", pid } });
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}

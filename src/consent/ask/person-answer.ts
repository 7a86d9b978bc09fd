/** Records the user's answer in the journal before it takes effect, and an "always" rule in the chosen place. */
import type { AskReply } from "../../abi/ask.ts";
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { type CallId, PID_KERNEL } from "../../abi/ids.ts";
import type { AskEvent } from "../../abi/wire-events.ts";
import { clearDenials } from "../../kernel/gate/denied.ts";
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { ModeKernel } from "../../kernel/process/rights/set-mode.ts";
import type { AskHooks } from "./asks.ts";
import { chooseRule, type RuleChoice } from "./rule-choice.ts";

/** What recording an answer needs of the kernel. */
export interface Answering {
  readonly ports: Pick<KernelPorts, "journal" | "settings">;
  /** False: the kernel is shutting down. */
  readonly accepting: boolean;
  readonly journalWatch: ModeKernel["journalWatch"];
  readonly grants: {
    add(
      proc: Process,
      wish: SessionRule,
      adding: { signal: AbortSignal; call: CallId; alongside: readonly JournalDraft[] },
    ): Promise<unknown>;
  };
}

interface SessionRule {
  readonly behavior: "allow";
  readonly rule: string;
  readonly scope: "session";
  readonly by: GrantBy;
  readonly requestId: string;
}

/** The call that the question is about. */
interface AskedCall {
  readonly core: Answering;
  readonly self: Process;
  readonly syscall: string;
  readonly callId: CallId;
  readonly signal: AbortSignal;
}

/** Hooks that record a question and its answer in the journal. */
export function keptInJournal(call: AskedCall): AskHooks {
  const { core, self } = call;
  const own = { proc: self.seed.uuid, pid: self.pid, v: 1, call: call.callId };
  const draft = (kind: "permit.ask" | "permit.answer", body: object): JournalDraft => ({
    ...own,
    kind,
    body,
  });
  return {
    open: async (ask) => {
      await core.journalWatch.append(self, call.syscall, call.signal, [draft("permit.ask", askBody(ask))]);
    },
    close: async (ask, reply, by) => {
      const { ask_id: requestId, digest } = ask;
      const choice = choiceOf(ask, reply);
      const body = { requestId, digest, ...reply, words: reply.words ?? "", ...choice, by };
      const note = await keep(call, { ask, by, choice }, draft("permit.answer", body));
      clearDenials(core, self);
      return note;
    },
    drop: ({ ask_id: requestId }, why) => {
      // the question outlives the daemon: the next one asks it again under the same id
      if (self.life.isResting || !core.accepting) return;
      core.ports.journal.note([draft("permit.answer", { requestId, answer: null, words: why })]);
    },
  };
}

/** The question as it is recorded: some of its keys have other names there. */
function askBody(ask: AskEvent): object {
  const { event: _event, pid: _pid, ask_id: requestId, text, detail = "", rules, ...more } = ask;
  const { arguments: input, opened_at: openedAt, ...same } = more;
  return { requestId, text, detail, ...same, input, openedAt, always: rules?.[0]?.rule ?? null };
}

function choiceOf({ rules = [], arguments: input }: AskEvent, reply: AskReply): RuleChoice | undefined {
  const { answer, rule, destination } = reply;
  if (reply.input !== undefined && (answer !== "yes" || input === undefined))
    throw invalid("these arguments cannot be changed here");
  if (answer !== "always") return undefined;
  const choice = chooseRule(rules, { rule, destination });
  if (choice !== undefined) return choice;
  throw invalid(`the rule is neither one of those suggested nor narrower: ${(rule ?? "").slice(0, 200)}`);
}

interface Kept {
  readonly ask: AskEvent;
  readonly by: GrantBy;
  readonly choice: RuleChoice | undefined;
}

/** Records the answer and its rule, if any. Returns a note for the user; "": none. */
async function keep(call: AskedCall, { ask, by, choice }: Kept, record: JournalDraft): Promise<string> {
  const { core, self, callId, signal } = call;
  if (choice === undefined) {
    await core.ports.journal.append([record]);
    return "";
  }
  const { rule, destination } = choice;
  const { counts, note } = destination === "session" ? HERE : await write(core, self, choice);
  const wish = { behavior: "allow", rule, scope: "session", by, requestId: ask.ask_id } as const;
  if (counts) await core.ports.journal.append([record]);
  else await core.grants.add(self, wish, { signal, call: callId, alongside: [record] });
  return note;
}

/** `counts`: the rule was written to the settings and is in force; otherwise it must be granted for the session. */
interface Written {
  readonly counts: boolean;
  readonly note: string;
}

const HERE: Written = { counts: false, note: "" };

async function write(
  { ports }: Answering,
  { seed }: Process,
  { rule, destination }: RuleChoice,
): Promise<Written> {
  const { settings } = ports;
  const held = (why: string): Written => ({ counts: false, note: `${why}; the rule holds for this session` });
  if (settings === undefined) return held("there are no settings files here");
  try {
    const rules = [rule];
    const { note = "" } = await settings.apply(
      { type: "addRules", destination, behavior: "allow", rules },
      seed.cwd,
    );
    // a rule written in a folder that is not trusted yet has no effect
    return note === "" ? { counts: true, note } : held(note);
  } catch (error) {
    if (codeOf(error) === "INVALID") throw error;
    return held(`${destination} could not be written: ${messageOf(error)}`);
  }
}

function invalid(message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code: "INVALID", message });
}

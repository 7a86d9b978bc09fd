/** Records the user's answer in the journal before it takes effect, and an "always" rule in the chosen place. */
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import type { Ask, AskReply } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { type CallId, PID_KERNEL } from "../../abi/ids.ts";
import type { Core } from "../../kernel/core.ts";
import { clearDenials } from "../../kernel/gate/denied.ts";
import type { JournalDraft } from "../../kernel/ports/journal.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { AskHooks } from "./asks.ts";
import { chooseRule, type RuleChoice } from "./rule-choice.ts";

/** The call that the question is about. */
interface AskedCall {
  readonly core: Core;
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
      const { askId: requestId, digest } = ask;
      const choice = choiceOf(ask, reply);
      const body = { requestId, digest, ...reply, words: reply.words ?? "", ...choice, by };
      const note = await keep(call, { ask, by, choice }, draft("permit.answer", body));
      clearDenials(core, self);
      return note;
    },
    drop: ({ askId: requestId }, why) => {
      // the question outlives the daemon: the next one asks it again under the same id
      if (self.life.isResting || !core.accepting) return;
      core.ports.journal.note([draft("permit.answer", { requestId, answer: null, words: why })]);
    },
  };
}

function askBody({ askId: requestId, pid: _pid, rules, ...ask }: Ask): object {
  return { requestId, ...ask, always: rules?.[0]?.rule ?? null };
}

function choiceOf({ rules = [], input }: Ask, reply: AskReply): RuleChoice | undefined {
  const { answer, rule, destination } = reply;
  if (reply.input !== undefined && (answer !== "yes" || input === undefined))
    throw invalid("these arguments cannot be changed here");
  if (answer !== "always") return undefined;
  const choice = chooseRule(rules, { rule, destination });
  if (choice !== undefined) return choice;
  throw invalid(`the rule is neither one of those suggested nor narrower: ${(rule ?? "").slice(0, 200)}`);
}

interface Kept {
  readonly ask: Ask;
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
  const wish = { behavior: "allow", rule, scope: "session", by, requestId: ask.askId } as const;
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

async function write(core: Core, { seed }: Process, { rule, destination }: RuleChoice): Promise<Written> {
  const { settings } = core.ports;
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

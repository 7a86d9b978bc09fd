/** How a person's answer is kept: in the journal before anybody hears of it; an "always" in the place that was named. */
import { codeOf, messageOf, SyscallError } from "../../abi/errors.ts";
import type { Ask, AskReply } from "../../abi/events.ts";
import type { GrantBy } from "../../abi/grants.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { AskHooks } from "../../consent/ask/asks.ts";
import { chooseRule, type RuleChoice } from "../../consent/ask/rule-choice.ts";
import type { Core } from "../core.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "../process/process.ts";
import type { Pass } from "./call.ts";
import { clearDenials } from "./denied.ts";
import type { Effectful } from "./effectful.ts";
import type { Scope } from "./scope.ts";

/** What the journal keeps of one question. */
export function keptInJournal(core: Core, self: Process, at: Effectful, scope: Scope, pass: Pass): AskHooks {
  const own = { proc: self.seed.uuid, pid: self.pid, v: 1, call: scope.callId };
  const draft = (kind: "permit.ask" | "permit.answer", body: object): JournalDraft => ({
    ...own,
    kind,
    body,
  });
  return {
    open: async (ask) => {
      await core.journalWatch.append(self, at.syscall, pass.signal, [draft("permit.ask", askBody(ask))]);
    },
    close: async (ask, reply, by) => {
      const { askId: requestId, digest } = ask;
      const choice = choiceOf(ask, reply);
      const body = { requestId, digest, ...reply, words: reply.words ?? "", ...choice, by };
      const note = await keep(core, self, { ask, by, choice, pass, scope }, draft("permit.answer", body));
      clearDenials(core, self);
      return note;
    },
    drop: ({ askId: requestId }, why) => {
      // with its daemon it is not over: the next one asks again, under the same id
      if (self.isResting || !core.accepting) return;
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
  readonly pass: Pass;
  readonly scope: Scope;
}

/** What the person must know of it; "": nothing. */
async function keep(core: Core, self: Process, kept: Kept, record: JournalDraft): Promise<string> {
  const { choice } = kept;
  if (choice === undefined) {
    await core.ports.journal.append([record]);
    return "";
  }
  if (choice.destination === "session") {
    await grant(core, self, kept, choice.rule, record);
    return "";
  }
  const { counts, note } = await write(core, self, choice);
  if (counts) await core.ports.journal.append([record]);
  else await grant(core, self, kept, choice.rule, record);
  return note;
}

async function write(
  core: Core,
  { seed }: Process,
  { rule, destination }: RuleChoice,
): Promise<{ counts: boolean; note: string }> {
  const { settings } = core.ports;
  const held = (why: string) => ({ counts: false, note: `${why}; the rule holds for this session` });
  if (settings === undefined) return held("there are no settings files here");
  try {
    const rules = [rule];
    const { note = "" } = await settings.apply(
      { type: "addRules", destination, behavior: "allow", rules },
      seed.cwd,
    );
    // what is written in a folder that is not trusted yet allows nothing by itself
    return note === "" ? { counts: true, note } : held(note);
  } catch (error) {
    if (codeOf(error) === "INVALID") throw error;
    return held(`${destination} could not be written: ${messageOf(error)}`);
  }
}

async function grant(
  core: Core,
  self: Process,
  kept: Kept,
  rule: string,
  record: JournalDraft,
): Promise<void> {
  const { ask, by, pass, scope } = kept;
  const wish = { behavior: "allow", rule, scope: "session", by, requestId: ask.askId } as const;
  await core.grants.add(self, wish, { signal: pass.signal, call: scope.callId, alongside: [record] });
}

function invalid(message: string): SyscallError {
  return new SyscallError({ syscall: "Answer", pid: PID_KERNEL, code: "INVALID", message });
}

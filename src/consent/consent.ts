/** Whether a person said so, for the gate. */
import type { Consent, Said } from "../kernel/gate/consent.ts";
import type { AskDecision } from "../kernel/gate/describe.ts";
import type { Passage } from "../kernel/gate/passage.ts";
import { keptInJournal } from "./ask/person-answer.ts";
import { digestNow, questionOf } from "./ask/question.ts";
import { classified, notePassed } from "./classify/classified.ts";
import { partOfInflow, takeOrigins } from "./labels/origins.ts";

export const consent: Consent = {
  judge: classified,
  passed: notePassed,
  ask,
  intake: takeOrigins,
  partOfInflow,
};

async function ask(passage: Passage, decision: AskDecision): Promise<Said> {
  const { core, self, effectful, scope, signal } = passage;
  const question = questionOf(passage, decision);
  const hooks = keptInJournal({ core, self, syscall: effectful.syscall, callId: scope.callId, signal });
  const given = await self.halt.quiescence.suspend(core.asks.ask(self, question, { signal, ...hooks }));
  if (given.nobody !== undefined) return { is: "unanswered", why: given.nobody };
  if (given.answer === "no") return { is: "no", words: given.words };
  if (given.input !== undefined) return { is: "edited", input: given.input };
  return { is: digestNow(passage) === question.digest ? "yes" : "moved" };
}

/** Whether a person said so, for the gate. */
import type { AskOutcome, Consent } from "../kernel/gate/consent.ts";
import type { AskDecision } from "../kernel/gate/describe.ts";
import type { Passage } from "../kernel/gate/passage.ts";
import type { Asks } from "./ask/asks.ts";
import { type Answering, keptInJournal } from "./ask/person-answer.ts";
import { digestNow, questionOf } from "./ask/question.ts";
import { classified, notePassed, type Reviewing } from "./classify/classified.ts";
import { type Observing, partOfInflow, takeOrigins } from "./labels/origins.ts";

/** What the user's consent needs of the kernel, beside the passage through the gate. */
type Consenting = Answering & Reviewing & Observing & { readonly asks: Pick<Asks, "ask"> };

export function makeConsent(core: Consenting): Consent {
  return {
    judge: (passage, decision) => classified(core, passage, decision),
    passed: (passage) => notePassed(core, passage),
    ask: (passage, decision) => ask(core, passage, decision),
    intake: (passage) => takeOrigins(core, passage),
    partOfInflow: (passage, effects) => partOfInflow(core, passage, effects),
  };
}

async function ask(core: Consenting, passage: Passage, decision: AskDecision): Promise<AskOutcome> {
  const { self, effectful, scope, signal } = passage;
  const question = questionOf(passage, decision);
  const hooks = keptInJournal({ core, self, syscall: effectful.syscall, callId: scope.callId, signal });
  const given = await self.halt.quiescence.suspend(core.asks.ask(self, question, { signal, ...hooks }));
  if (given.nobody !== undefined) return { is: "unanswered", why: given.nobody };
  if (given.answer === "no") return { is: "no", words: given.words };
  if (given.input !== undefined) return { is: "edited", input: given.input };
  return { is: digestNow(passage) === question.digest ? "yes" : "moved" };
}

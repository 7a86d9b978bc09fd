/** The position of one process in a scenario: which entries and faults are used up. */
import type { AttemptRequest } from "../driver.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import { type Fault, parsePattern, type Scenario, type Turn } from "./scenario.ts";
import { render, type Variables } from "./template.ts";

export interface Cue {
  readonly turn: Turn;
  readonly fault: Fault | undefined;
  readonly conversation: Conversation;
}

export class Cursor {
  readonly #uses = new Map<Turn, number>();
  readonly #faults = new Map<Turn, number>();

  /**
   * The first matching entry with uses left. A fault is played first, as often as it says, and does not use up the
   * entry. undefined: nothing matches.
   */
  next(
    scenario: Scenario,
    request: AttemptRequest,
    variablesOf: (conversation: Conversation) => Variables,
  ): Cue | undefined {
    const conversation = readConversation(request);
    const turn = scenario.turns.find((entry) => {
      const isLeft = entry.forever || (this.#uses.get(entry) ?? 0) < entry.times;
      return isLeft && matches(entry.when, variablesOf(conversation));
    });
    if (turn === undefined) return undefined;
    const spent = this.#faults.get(turn) ?? 0;
    if (turn.fault !== undefined && spent < turn.fault.times) {
      this.#faults.set(turn, spent + 1);
      return { turn, fault: turn.fault, conversation };
    }
    this.#uses.set(turn, (this.#uses.get(turn) ?? 0) + 1);
    return { turn, fault: undefined, conversation };
  }
}

function matches(when: Turn["when"], variables: Variables): boolean {
  if (when === undefined) return true;
  const { agent, turn, user, result, model, given } = when;
  const { conversation } = variables;
  return (
    (agent === undefined || conversation.agent === undefined || agent === conversation.agent) &&
    (turn === undefined || turn === conversation.turn) &&
    (user === undefined || parsePattern(user)(conversation.user)) &&
    (model === undefined || parsePattern(model)(conversation.model)) &&
    (result === undefined || hasResult(result, conversation)) &&
    (given === undefined || render(given, variables).trim() !== "")
  );
}

function hasResult(
  result: NonNullable<NonNullable<Turn["when"]>["result"]>,
  conversation: Conversation,
): boolean {
  const { tool, contains, error } = typeof result === "string" ? ({ contains: result } as const) : result;
  return conversation.latest.some(
    (one) =>
      (tool === undefined || tool === one.tool) &&
      (error === undefined || error === one.isError) &&
      (contains === undefined || parsePattern(contains)(one.content)),
  );
}

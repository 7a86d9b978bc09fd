/**
 * `--permission-prompt-tool stdio`: what a person would be asked is asked of the program that runs the command, on stdout,
 * and answered on stdin, as client libraries do it. Once stdin has ended, the answer is no.
 */
import type { AskReply, AskRule, QuestionItem } from "../../abi/ask.ts";
import type { ControlAsk } from "../../abi/print/print.ts";
import { RULE_DESTINATIONS, type RuleDestination } from "../../abi/rules.ts";
import type { AskClosedEvent, AskEvent } from "../../abi/wire-events.ts";
import type { Json } from "./json-schema.ts";
import type { Fields, UserLine } from "./user-line.ts";

type Answer = Extract<UserLine, { kind: "answer" }>;

interface Around {
  put(line: ControlAsk): void;
  /** Rejects where the question is not open any more. */
  answer(askId: string, reply: AskReply): Promise<unknown>;
}

/** A limit is not raised by a program: `--max-turns` and `--max-budget-usd` mean what they say. */
const NO_RAISE: AskReply = { answer: "no" };
const UNREAD: AskReply = { answer: "no", words: "the program that is asked could not be understood" };
const NOBODY: AskReply = { answer: "no", words: "nobody is there to approve it" };

export class Approver {
  readonly #around: Around;
  /** The questions that were passed on and have no answer. */
  readonly #open = new Map<string, AskEvent>();
  #hasEnded = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /** `callId`: the call that the question is about, if it is known. */
  asked(event: AskEvent, callId: string | undefined): void {
    const { ask_id } = event;
    const refusal = event.amount !== undefined ? NO_RAISE : this.#hasEnded ? NOBODY : undefined;
    if (refusal !== undefined) this.#reply(ask_id, refusal);
    // told again to a client that comes late
    if (refusal !== undefined || this.#open.has(ask_id)) return;
    this.#open.set(ask_id, event);
    this.#around.put({ type: "control_request", request_id: ask_id, request: requestOf(event, callId) });
  }

  /** Somebody else has answered, or the question is void. */
  closed({ ask_id }: AskClosedEvent): void {
    if (this.#open.delete(ask_id)) this.#around.put({ type: "control_cancel_request", request_id: ask_id });
  }

  /** A line of stdin. false: it answers nothing that is open. */
  answered({ id, response }: Answer): boolean {
    const event = this.#open.get(id);
    if (event === undefined) return false;
    this.#open.delete(id);
    this.#reply(id, replyOf(event, response));
    return true;
  }

  /** stdin has ended. */
  end(): void {
    this.#hasEnded = true;
    for (const id of this.#open.keys()) this.#reply(id, NOBODY);
    this.#open.clear();
  }

  #reply(askId: string, reply: AskReply): void {
    // answered by somebody else meanwhile: then its answer counts
    this.#around.answer(askId, reply).catch(() => {});
  }
}

function requestOf(
  event: AskEvent,
  callId: string | undefined,
): Extract<Extract<ControlAsk, { request: unknown }>["request"], { subtype: "can_use_tool" }> {
  const { text, tool = "", questions, rules = [], reason } = event;
  const input = questions === undefined ? argumentsOf(event) : { questions: questions as unknown as Json };
  return {
    subtype: "can_use_tool",
    tool_name: tool,
    input,
    ...(callId === undefined ? {} : { tool_use_id: callId }),
    ...(rules.length === 0 ? {} : { permission_suggestions: rules.flatMap(suggested) }),
    title: text,
    ...(reason === undefined ? {} : { decision_reason: reason }),
  };
}

export function argumentsOf({ arguments: text }: Pick<AskEvent, "arguments">): { [key: string]: Json } {
  return text === undefined ? {} : (JSON.parse(text) as { [key: string]: Json });
}

function suggested({ rule, destinations }: AskRule) {
  const rules = [ruleOf(rule)];
  return destinations.map((destination) => ({
    ...{ type: "addRules" as const, rules, behavior: "allow" as const, destination },
  }));
}

function ruleOf(rule: string): { toolName: string; ruleContent?: string } {
  const at = rule.indexOf("(");
  if (at < 0 || !rule.endsWith(")")) return { toolName: rule };
  return { toolName: rule.slice(0, at), ruleContent: rule.slice(at + 1, -1) };
}

/** What cannot be understood is a no. */
function replyOf(event: AskEvent, response: Fields | undefined): AskReply {
  if (response?.behavior === "deny") {
    const { message } = response;
    return {
      answer: "no",
      ...(typeof message === "string" && message !== "" ? { words: message.slice(0, 4_000) } : {}),
    };
  }
  if (response?.behavior !== "allow") return UNREAD;
  const { updatedInput: input, updatedPermissions } = response;
  if (event.questions !== undefined)
    return { answer: "yes", answers: event.questions.map((each) => answerTo(each, input)) };
  const always = chosenRule(event, updatedPermissions);
  if (always !== undefined) return always;
  if (!isFields(input) || JSON.stringify(input) === JSON.stringify(argumentsOf(event)))
    return { answer: "yes" };
  return { answer: "yes", input };
}

function answerTo({ question, options }: QuestionItem, input: Json | undefined) {
  const answers = isFields(input) ? input.answers : undefined;
  const said = isFields(answers) ? answers[question] : undefined;
  const text = typeof said === "string" ? said : "";
  const chosen = options.filter(({ label }) => text === label || text.split(", ").includes(label));
  return chosen.length === 0 ? { chosen: [], text } : { chosen: chosen.map(({ label }) => label), text: "" };
}

/** Only a rule that was suggested is added, where it was suggested. */
function chosenRule({ rules = [] }: AskEvent, wished: Json | undefined): AskReply | undefined {
  for (const each of Array.isArray(wished) ? wished : []) {
    if (!isFields(each) || each.type !== "addRules" || each.behavior !== "allow") continue;
    const destination = RULE_DESTINATIONS.find((name) => name === each.destination) ?? "session";
    const found = rules.find(
      ({ rule, destinations }) => destinations.includes(destination) && asks(each, rule),
    );
    if (found !== undefined)
      return { answer: "always", rule: found.rule, destination: destination as RuleDestination };
  }
  return undefined;
}

function asks({ rules }: Fields, rule: string): boolean {
  return JSON.stringify(rules) === JSON.stringify([ruleOf(rule)]);
}

function isFields(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Questions of the gate and of agents, put to the user of an editor. Silence and every failure are a no. */
import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { AskReply, QuestionItem } from "../../abi/ask.ts";
import type { AskClosedEvent, AskEvent } from "../../abi/wire-events.ts";
import { askBlock } from "../screen/ask-lines.ts";
import { safeLine } from "../screen/text/safe-text.ts";
import { textContent } from "./updates.ts";

/** Of an option that names the mode to carry out a plan in. */
const MODE = "mode-";

type Asked = Omit<RequestPermissionRequest, "sessionId">;
type Choice = { readonly kind: "chosen"; readonly id: string } | { readonly kind: "cancelled" };

interface PermissionsAround {
  request(asked: Asked, signal: AbortSignal): Promise<RequestPermissionResponse>;
  /** Never rejects. */
  answer(askId: string, reply: AskReply): Promise<void>;
  /** Denies the rule in the session from now on, as a grant that can be taken back. Never rejects. */
  deny(pid: number, rule: string): Promise<void>;
  /** The id of the call in question, if the editor knows it. */
  callOf(ask: AskEvent): string | undefined;
}

export class Permissions {
  readonly #around: PermissionsAround;
  readonly #open = new Map<string, AbortController>();

  constructor(around: PermissionsAround) {
    this.#around = around;
  }

  /** Resolves once the question is answered, here or elsewhere. Never rejects. */
  async ask(event: AskEvent): Promise<void> {
    const { ask_id: id } = event;
    if (this.#open.has(id)) return;
    const closed = new AbortController();
    this.#open.set(id, closed);
    const reply = await this.#reply(event, closed.signal).catch(() => ({ answer: "no" as const }));
    this.#open.delete(id);
    if (!closed.signal.aborted) await this.#around.answer(id, reply);
  }

  /** It was answered elsewhere, or is void. */
  close({ ask_id: id }: AskClosedEvent): void {
    this.#open.get(id)?.abort();
  }

  /** Leaves the open questions to other clients. */
  leave(): void {
    for (const closed of this.#open.values()) closed.abort();
  }

  async #reply(event: AskEvent, signal: AbortSignal): Promise<AskReply> {
    const toolCall = this.#callOf(event);
    if (event.questions !== undefined) return this.#answers(event.questions, toolCall, signal);
    const key = ruleOf(event);
    const choice = await this.#choose({ toolCall, options: optionsOf(event) }, signal);
    if (choice.kind === "cancelled") return { answer: "no" };
    if (choice.id === "never" && key !== undefined) {
      await this.#around.deny(event.pid, key);
      return { answer: "no", words: `the user always rejects ${key} in this session` };
    }
    if (choice.id.startsWith(MODE)) return { answer: "yes", words: choice.id.slice(MODE.length) };
    if (choice.id === "always") return { answer: "always", ...(key === undefined ? {} : { rule: key }) };
    return { answer: choice.id === "yes" ? "yes" : "no" };
  }

  /** One after the other. A rejected one dismisses all. */
  async #answers(
    questions: readonly QuestionItem[],
    toolCall: ToolCallUpdate,
    signal: AbortSignal,
  ): Promise<AskReply> {
    const answers: { chosen: string[]; text: string }[] = [];
    for (const { question, options } of questions) {
      const shown = options.map(({ label, description }) =>
        description === "" ? safeLine(label) : `${safeLine(label)}: ${safeLine(description)}`,
      );
      const choices = shown.map((name, i) => option(`answer-${i}`, name, "allow_once"));
      const asked: Asked = {
        toolCall: { ...toolCall, title: safeLine(question) },
        options: [...choices, option("no", "Do not answer", "reject_once")],
      };
      const choice = await this.#choose(asked, signal);
      const index = choice.kind === "chosen" ? /^answer-(\d+)$/.exec(choice.id)?.[1] : undefined;
      const label = index === undefined ? undefined : options[Number(index)]?.label;
      if (label === undefined) return { answer: "no" };
      answers.push({ chosen: [label], text: "" });
    }
    return { answer: "yes", answers };
  }

  async #choose(asked: Asked, signal: AbortSignal): Promise<Choice> {
    const { outcome } = await this.#around.request(asked, signal);
    return outcome.outcome === "selected" ? { kind: "chosen", id: outcome.optionId } : { kind: "cancelled" };
  }

  /** What the user decides about, with each part of a command and why it asks. */
  #callOf(event: AskEvent): ToolCallUpdate {
    const { lines } = askBlock(event, Number.POSITIVE_INFINITY);
    const content = lines.length === 0 ? {} : { content: [textContent(lines.join("\n"))] };
    const toolCallId = this.#around.callOf(event) ?? `ask-${event.ask_id}`;
    return { toolCallId, title: safeLine(event.text), status: "pending", ...content };
  }
}

function optionsOf(event: AskEvent): PermissionOption[] {
  const { options, amount, modes = [] } = event;
  const rule = ruleOf(event);
  const yes = amount === undefined ? "Allow once" : `Raise the limit by ${amount.offered}`;
  return [
    option("yes", yes, "allow_once"),
    ...modes.map((mode) => option(`${MODE}${mode}`, `Allow once, in ${mode} mode`, "allow_once")),
    ...(options.includes("always") && rule !== undefined
      ? [option("always", `Always allow in this session: ${safeLine(rule)}`, "allow_always")]
      : []),
    option("no", "Reject", "reject_once"),
    ...(rule === undefined
      ? []
      : [option("never", `Always reject in this session: ${safeLine(rule)}`, "reject_always")]),
  ];
}

function option(optionId: string, name: string, kind: PermissionOption["kind"]): PermissionOption {
  return { optionId, name, kind };
}

/** The rule that an "always" adds; undefined: only this call can be decided. */
function ruleOf({ rules = [] }: AskEvent): string | undefined {
  return rules[0]?.rule;
}

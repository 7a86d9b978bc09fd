/** The messages of a process, read from its records. They contain no known secret: the journal stores none. */
import type { JournalLine } from "../../../abi/journal/line.ts";
import type { Block } from "../../../abi/llm.ts";
import type { Conversation, Spoken } from "../../screen/conversation-text.ts";

interface Body {
  readonly intent?: string;
  readonly agent?: string;
  readonly cwd?: string;
  readonly role?: string;
  readonly content?: string;
  readonly blocks?: readonly Block[];
  readonly tool_call_id?: string;
  readonly is_error?: boolean;
  /** `cid`: set for a context other than the process's own; `replaces`: set on a message that replaces another. */
  readonly cid?: number;
  readonly replaces?: number;
}

/** Takes records in order; ignores those that do not belong to the conversation. */
export class ConversationReader {
  readonly #messages: Spoken[] = [];
  #last: Pick<Conversation, "pid" | "uuid"> = { pid: 0, uuid: "" };
  #begin: Pick<Conversation, "agent" | "cwd" | "created_at"> | undefined;

  take(record: JournalLine): void {
    const { kind, pid, proc: uuid, body } = record;
    const at = new Date(record.at).toISOString();
    // the records of a fork come after those it inherited
    this.#last = { pid, uuid };
    const said = (body ?? {}) as Body;
    if (kind === "process.spawned") {
      const { intent = "", agent = "", cwd = "" } = said;
      this.#begin ??= { agent, cwd, created_at: at };
      if (intent !== "") this.#messages.push({ role: "user", text: intent, at });
    }
    if (kind === "ctx.record") this.#said(said, at);
  }

  get whole(): Conversation {
    const { agent = "", cwd = "", created_at = "" } = this.#begin ?? {};
    return { ...this.#last, agent, cwd, created_at, messages: this.#messages };
  }

  #said(
    { role, content: text = "", blocks = [], tool_call_id, is_error, cid, replaces }: Body,
    at: string,
  ): void {
    if (cid !== undefined || replaces !== undefined) return;
    if (role === "user") this.#messages.push({ role, text, at });
    if (role === "assistant") {
      const calls = blocks.flatMap((block) =>
        block.type === "tool_use" ? [{ id: block.id, tool: block.name, arguments: block.input }] : [],
      );
      this.#messages.push({ role, text, at, ...(calls.length === 0 ? {} : { calls }) });
    }
    if (role === "tool") {
      const failed = is_error === true ? { is_error } : {};
      this.#messages.push({
        role,
        text,
        at,
        ...(tool_call_id === undefined ? {} : { call_id: tool_call_id }),
        ...failed,
      });
    }
  }
}

/** A conversation as Markdown: messages verbatim, calls and results in fences that their content cannot close. */

export interface Spoken {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
  /** The calls of an assistant message. */
  readonly calls?: readonly SpokenCall[];
  /** In a tool message: the call it answers. */
  readonly call_id?: string;
  readonly is_error?: boolean;
}

interface SpokenCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: unknown;
}

export interface Conversation {
  readonly pid: number;
  readonly uuid: string;
  /** "" in general mode. */
  readonly agent: string;
  readonly cwd: string;
  readonly created_at: string;
  readonly messages: readonly Spoken[];
}

const TITLE_CHARS = 80;
const HEADS: Readonly<Record<Spoken["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Result",
};

export function conversationMarkdown({ pid, uuid, agent, cwd, created_at, messages }: Conversation): string {
  const about = [`process ${pid} (${uuid})`, ...(agent === "" ? [] : [`agent ${agent}`]), cwd, created_at];
  const title = titleOf(messages) || `Process ${pid}`;
  const parts = [`# ${title}`, about.filter((word) => word !== "").join(" · "), ...messages.flatMap(partsOf)];
  return `${parts.join("\n\n")}\n`;
}

function titleOf(messages: readonly Spoken[]): string {
  const line =
    messages
      .find(({ role }) => role === "user")
      ?.text.trim()
      .split("\n", 1)[0] ?? "";
  return line.length > TITLE_CHARS ? `${line.slice(0, TITLE_CHARS).toWellFormed()}…` : line;
}

function partsOf({ role, text, calls = [], call_id, is_error }: Spoken): readonly string[] {
  const words = text.trim();
  const which = call_id === undefined ? "" : ` of \`${call_id}\``;
  if (role === "tool")
    return [`### ${HEADS.tool}${which}${is_error === true ? " (failed)" : ""}`, fenced(text)];
  const called = calls.flatMap(({ id, tool, arguments: input }) => [
    `### Call \`${id}\`: ${tool}`,
    fenced(JSON.stringify(input, null, 2) ?? "", "json"),
  ]);
  return [`## ${HEADS[role]}`, ...(words === "" ? [] : [words]), ...called];
}

/** A fence longer than every run of backticks in the text. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

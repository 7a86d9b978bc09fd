/**
 * The classifier of auto mode: what a model is asked about a call. Pure except for the settings, which are read for
 * each request.
 */
import { autoModeLists } from "../../abi/auto-mode.ts";
import type { Settings } from "../../abi/settings.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type {
  Classifier,
  ClassifierRequest,
  ClassifierStage,
  ClassifierVerdict,
  JudgedCall,
  Judging,
} from "../../kernel/ports/classifier.ts";
import { autoModePrompt, FAST_WORDS, MEANING_PROMPT, THINKING_WORDS } from "./prompt.ts";

const FAST_TOKENS = 64;
const THINKING_TOKENS = 4_096;
const STOP = ["</block>"] as const;

type AutoModeSettings = Pick<Settings, "autoMode" | "useAutoModeDuringPlan">;

/** `settings`: those of the user and the policy; a project cannot change them. */
export function makeClassifier(settings: () => AutoModeSettings): Classifier {
  const lists = () => autoModeLists(settings().autoMode ?? {});
  return {
    stages: () => settings().autoMode?.stage ?? "both",
    judgesPlan: () => settings().useAutoModeDuringPlan !== false,
    lists,
    request: (judging, stage) => request(autoModePrompt(lists()), conversation(judging), stage),
    meaning: (judging) => request(MEANING_PROMPT, meaningOf(judging), "fast"),
    verdict: parseVerdict,
  };
}

function request(prompt: string, data: string, stage: ClassifierStage): ClassifierRequest {
  const isFast = stage === "fast";
  return {
    system: [{ text: prompt, zone: "static" }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: data },
          { type: "text", text: isFast ? FAST_WORDS : THINKING_WORDS },
        ],
      },
    ],
    maxOutputTokens: isFast ? FAST_TOKENS : THINKING_TOKENS,
    stopSequences: isFast ? STOP : [],
  };
}

function conversation(judging: Judging): string {
  const { messages, since, pending, roots, approved } = judging;
  return [
    `Working directories: ${data(roots)}`,
    ...(approved.length === 0 ? [] : [`The user approved with the plan: ${data(approved)}`]),
    "<transcript>",
    ...transcriptLines(messages),
    ...since.map(callLine),
    "</transcript>",
    "<pending>",
    callLine(pending),
    "</pending>",
  ].join("\n");
}

function meaningOf({ approved, pending, roots }: Judging): string {
  return [
    `Working directories: ${data(roots)}`,
    "<approved>",
    ...approved.map((words) => data(words)),
    "</approved>",
    "<pending>",
    callLine(pending),
    "</pending>",
  ].join("\n");
}

/** JSON in which no tag can be written. */
function data(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

/** Bounds of one text and of the arguments of one call; both ends are kept. */
const MAX_TEXT_CHARS = 8_000;
const MAX_INPUT_CHARS = 16_000;
/** Text that Crux itself adds to the conversation in the user's role. */
const NOTES = /^<(?:crux-note|agent-message|tool_discovery|system-reminder)\b/;

/**
 * The user's messages and the agent's calls as data: one JSON line each, which nothing in the data can break. Tool
 * results and messages of other processes are left out: a web page cannot argue its own case.
 */
function transcriptLines(messages: readonly ContextMessage[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === "user")
      return NOTES.test(message.content) ? [] : [line({ user: cut(message.content, MAX_TEXT_CHARS) })];
    if (message.role !== "assistant") return [];
    return (message.blocks ?? []).flatMap((block) =>
      block.type === "tool_use"
        ? [line({ call: block.name, input: cut(JSON.stringify(block.input) ?? "", MAX_INPUT_CHARS) })]
        : [],
    );
  });
}

function callLine({ tool, input, effects }: JudgedCall): string {
  return line({
    call: tool,
    input: cut(input, MAX_INPUT_CHARS),
    effects: effects.map((effect) => cut(effect, MAX_TEXT_CHARS)),
  });
}

/** JSON in which no tag can be written. */
function line(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${text.slice(0, half).toWellFormed()} […${text.length - 2 * half} characters…] ${text.slice(-half).toWellFormed()}`;
}

/** Bounds and text for the classifier's answer. Anything but one clear verdict blocks. */
const MAX_REASON_CHARS = 500;
const UNCLEAR = "the classifier's answer cannot be read";

/** Expects `<block>yes|no|ask</block>` once; the closing tag may be missing where generation stopped at it. */
export function parseVerdict(text: string): ClassifierVerdict {
  const said = text.replace(/<thinking>[\s\S]*?<\/thinking>/gi, "");
  const opened = said.match(/<\s*block\b/gi) ?? [];
  const closed = said.match(/<\s*\/\s*block\b/gi) ?? [];
  const found = /<block>\s*(yes|no|ask)\s*(?:<\/block>|$)/i.exec(said);
  if (opened.length !== 1 || closed.length > 1 || found === null) return { kind: "block", reason: UNCLEAR };
  const kind = KINDS[found[1]?.toLowerCase() ?? ""] ?? "block";
  return { kind, reason: reasonIn(said) };
}

const KINDS: Readonly<Record<string, ClassifierVerdict["kind"]>> = { yes: "block", no: "allow", ask: "ask" };

function reasonIn(said: string): string {
  const told = /<reason>([\s\S]*?)(?:<\/reason>|$)/i.exec(said)?.[1] ?? "";
  return told.replace(/\s+/g, " ").trim().slice(0, MAX_REASON_CHARS).toWellFormed();
}

/** The classifier of mode auto: what a model is asked about a call. Pure but for the settings, which are asked each time. */
import { autoModeLists } from "../../abi/auto-mode.ts";
import type { Settings } from "../../abi/settings.ts";
import type {
  Classifier,
  ClassifierRequest,
  ClassifierStage,
  Judging,
} from "../../kernel/ports/classifier.ts";
import { autoModePrompt, FAST_WORDS, MEANING_PROMPT, THINKING_WORDS } from "./prompt.ts";
import { callLine, transcriptLines } from "./transcript.ts";
import { parseVerdict } from "./verdict.ts";

const FAST_TOKENS = 64;
const THINKING_TOKENS = 4_096;
const STOP = ["</block>"] as const;

type AutoModeSettings = Pick<Settings, "autoMode" | "useAutoModeDuringPlan">;

/** `settings`: of the user and the policy; a project has no say. */
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

/** No tag can be written in it. */
function data(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

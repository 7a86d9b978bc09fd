/**
 * The question shown to the user before a call is allowed: the asking process, its exact effects, the reason, the
 * sandbox.
 */

import type { AskRule } from "../../abi/ask.ts";
import { RULE_DESTINATIONS } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { english, plain, type Sentence } from "../../abi/sentence.ts";
import type { AskedQuestion } from "../../abi/wire-events.ts";
import { sandboxGiven } from "../../kernel/gate/confine.ts";
import { type AskDecision, describe, effectWords } from "../../kernel/gate/describe.ts";
import type { Effectful } from "../../kernel/gate/effectful.ts";
import type { Passage } from "../../kernel/gate/passage.ts";
import { subjectOf } from "../../kernel/process/subject.ts";
import { redactedValue } from "../../kernel/redact/redacted-journal.ts";
import { digestOf } from "./digest.ts";

/** The most effects and parts that are listed; for further effects their number is shown. */
const MAX_LISTED = 64;
const MAX_INPUT_CHARS = 64 * 1024;

/**
 * The question without secrets. Arguments that contained a secret cannot be edited, as those shown are not those used.
 */
export function questionOf(passage: Passage, decision: AskDecision): AskedQuestion {
  const asked = wholeQuestion(passage, decision);
  const { redactor } = passage.core.ports;
  if (redactor === undefined) return asked;
  const clean = redactedValue(redactor, asked) as AskedQuestion;
  if (clean.arguments === asked.arguments) return clean;
  const { arguments: _, ...shown } = clean;
  return shown;
}

function wholeQuestion(passage: Passage, decision: AskDecision): AskedQuestion {
  const { core, self, effectful, scope } = passage;
  const sandbox = sandboxGiven(passage);
  const subject = subjectOf(core, self);
  const rules = rulesOf(decision);
  const input = editable(effectful);
  const warnings = effectful.view?.warnings ?? [];
  const confined = sandboxSaid(sandbox, self.seed.scratch);
  const isRunning = scope.effects.some(({ kind }) => kind === "exec");
  const { text, detail } = describe(scope.tool, effectful, decision);
  return {
    text,
    options: rules.length === 0 ? ["yes", "no"] : ["yes", "no", "always"],
    ...(detail === "" ? {} : { detail }),
    path: core.table.lineOf(self),
    tool: scope.tool,
    effects: listed(scope.effects.map(effectWords)),
    ...(decision.parts === undefined ? {} : { parts: decision.parts.slice(0, MAX_LISTED) }),
    reason: decision.message,
    ...optional(
      "labels",
      subject.labels?.map(({ kind, source, detail }) => `${kind}: ${source} ${detail}`),
    ),
    ...optional("warnings", warnings.map(english)),
    ...(isRunning ? { sandbox: english(confined) } : {}),
    facts: {
      reason: decision.said ?? [decision.message],
      warnings,
      ...(isRunning ? { sandbox: confined } : {}),
    },
    digest: digestNow(passage),
    ...optional("rules", rules),
    ...(input === undefined ? {} : { arguments: input }),
    opened_at: core.ports.clock.now(),
  };
}

/** The present digest: a path may resolve differently than when the question was asked. */
export function digestNow({ core, effectful, scope }: Passage): string {
  const { tool, effects } = scope;
  const resolved = effects.map((effect) =>
    effect.kind === "read" || effect.kind === "write"
      ? { ...effect, real: core.ports.realPath(effect.path) }
      : effect,
  );
  return digestOf(tool, effectful.input, resolved);
}

/** Suggested rules; none where an allow rule would have no effect because the user must always be asked. */
function rulesOf({ always, isHard }: AskDecision): readonly AskRule[] {
  return always === null || isHard === true ? [] : [{ rule: always, destinations: RULE_DESTINATIONS }];
}

/** The arguments if the user can edit them: one complete JSON object written to a tool. */
function editable({ syscall, input }: Effectful): string | undefined {
  if (syscall !== "Write" || !input.startsWith("{") || input.length > MAX_INPUT_CHARS) return undefined;
  return input;
}

/** The most that a command can do. */
function sandboxSaid(profile: SandboxProfile | null, scratch: string): Sentence {
  if (profile === null) return plain("unconfined");
  const write = profile.write.map((place) => (place === scratch ? null : place));
  const { network } = profile;
  return { kind: "sandbox", write, network: typeof network === "string" ? network : network.allow };
}

function listed(words: readonly string[]): readonly string[] {
  if (words.length <= MAX_LISTED) return words;
  return [...words.slice(0, MAX_LISTED), `… and ${words.length - MAX_LISTED} more`];
}

function optional<K extends string, T>(key: K, list: readonly T[] | undefined): { [P in K]?: readonly T[] } {
  return (list === undefined || list.length === 0 ? {} : { [key]: list }) as { [P in K]?: readonly T[] };
}

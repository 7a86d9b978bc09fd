/** The list of skills that the model sees: one line each, within a share of its context window. */
import type { SkillLine } from "../../abi/surroundings.ts";
import { fittingLines } from "../../lib/fitting-lines.ts";

/** 1 % of a window of 200,000 tokens, of 4 characters each. */
const LISTING_CHARS = 8_000;
const MAX_DESCRIPTION = 250;
/** With less room than this for each description, only the names are listed. */
const LEAST_DESCRIPTION = 20;

/** Room for the line that counts what is left out. */
const COUNT_CHARS = 40;

const HEAD =
  "Skills: instructions for kinds of work, read with the skill tool when one fits the task, before you begin it.";

/** "": no skills. Beyond the budget the shipped skills keep their text, and the others share the rest. */
export function skillListing(skills: readonly SkillLine[], budget = LISTING_CHARS): string {
  if (skills.length === 0) return "";
  return `${HEAD}\n${skillLines(skills, budget)}`;
}

function skillLines(skills: readonly SkillLine[], budget: number): string {
  const full = skills.map((skill) => lineOf(skill, MAX_DESCRIPTION));
  if (charsOf(full) <= budget) return full.join("\n");
  const others = skills.filter(({ isShipped }) => isShipped !== true);
  const room =
    budget - charsOf(skills.filter(({ isShipped }) => isShipped).map((s) => lineOf(s, MAX_DESCRIPTION)));
  const names = charsOf(others.map((skill) => lineOf(skill, 0)));
  const each = Math.floor((room - names) / Math.max(1, others.length)) - ": ".length;
  const most = each < LEAST_DESCRIPTION ? 0 : each;
  const lines = skills.map((skill) => lineOf(skill, skill.isShipped === true ? MAX_DESCRIPTION : most));
  return bounded(lines, budget).join("\n");
}

/** Even the names may be too many: the last ones are counted. */
function bounded(lines: readonly string[], budget: number): readonly string[] {
  if (fittingLines(lines, budget) === lines.length) return lines;
  const kept = fittingLines(lines, budget - COUNT_CHARS);
  return [...lines.slice(0, kept), `(and ${lines.length - kept} more)`];
}

function lineOf({ name, description }: SkillLine, most: number): string {
  const text = description.replaceAll(/\s+/g, " ").replaceAll("<", "&lt;").trim();
  if (most === 0 || text === "") return `- ${name}`;
  return `- ${name}: ${text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`}`;
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

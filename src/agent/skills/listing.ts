/** The list of skills as the model reads it: a line each, within a share of the window. Pure. */
import type { SkillLine } from "../../abi/skill.ts";
import { escaped } from "../instructions/frame.ts";

const HEAD =
  "Skills, each with instructions for a kind of work. Where one fits the task, load it with the tool skill before you begin, and " +
  "follow it. The user calls one as /name.";

const CHARS_PER_TOKEN = 4;
const SHARE = 0.01;
const MAX_DESCRIPTION = 250;
/** Shorter descriptions say nothing: then there are names alone. */
const LEAST_DESCRIPTION = 20;
const DEFAULT_WINDOW = 200_000;

/** "": no skills. `window`: tokens; absent: not known. */
export function skillsText(skills: readonly SkillLine[], window = DEFAULT_WINDOW): string {
  if (skills.length === 0) return "";
  return `${HEAD}\n${listed(skills, Math.floor(window * CHARS_PER_TOKEN * SHARE)).join("\n")}`;
}

export function lineOf(
  { name, description }: Pick<SkillLine, "name" | "description">,
  most = MAX_DESCRIPTION,
): string {
  const text = cut(escaped(description.replace(/\s+/g, " ").trim()), Math.min(most, MAX_DESCRIPTION));
  return text === "" ? `- ${name}` : `- ${name}: ${text}`;
}

/**
 * Whole lines; else shipped ones whole and an equal share for each of the others; else the others by name; else as many
 * names as fit.
 */
function listed(skills: readonly SkillLine[], room: number): readonly string[] {
  const whole = skills.map((skill) => lineOf(skill));
  if (sizeOf(whole) <= room) return whole;
  const isShipped = ({ source }: SkillLine) => source === "bundled";
  const others = skills.filter((skill) => !isShipped(skill));
  const fixed = sizeOf(skills.map((skill) => (isShipped(skill) ? lineOf(skill) : `- ${skill.name}: `)));
  const each = Math.floor((room - fixed) / Math.max(1, others.length));
  if (each >= LEAST_DESCRIPTION)
    return skills.map((skill) => (isShipped(skill) ? lineOf(skill) : lineOf(skill, each)));
  const names = skills.map((skill) => (isShipped(skill) ? lineOf(skill) : `- ${skill.name}`));
  return sizeOf(names) <= room ? names : namesThatFit(skills, room);
}

function namesThatFit(skills: readonly SkillLine[], room: number): readonly string[] {
  const lines: string[] = [];
  let left = room - 40;
  for (const { name } of skills) {
    left -= name.length + 3;
    if (left < 0) break;
    lines.push(`- ${name}`);
  }
  return [...lines, `and ${skills.length - lines.length} more, by their names`];
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/**
 * What the model is told of its surroundings: the dynamic part of the system prompt, and a reminder before the first
 * message, with the instruction files, the list of skills and the memory. Not part of the conversation, so that no compaction loses it.
 */
import { type AgentLine, DEFAULT_AGENT } from "../../abi/agent.ts";
import { COORDINATOR, WORKER } from "../../abi/child.ts";
import { RECALLED, type Section } from "../../abi/context.ts";
import { FORK, type ForkPrefix } from "../../abi/fork.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { SkillLine } from "../../abi/skill.ts";
import type { Memory } from "../../abi/surroundings.ts";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { RecentMap } from "../../lib/maps/recent-map.ts";
import { instructionsText, reminder } from "../instructions/frame.ts";
import { type Keeping, memoryText } from "../memory/memory-text.ts";
import { lineOf, skillsText } from "../skills/listing.ts";
import { environmentText, type Place } from "./environment.ts";

export interface Briefing {
  readonly environment: string;
  /** The texts of the reminder, each with the part as which the user sees it counted. */
  readonly sections: readonly Section[];
  /** Always the same object; null: nothing to tell. */
  readonly reminder: ContextMessage | null;
  /** Skills that are told of once a call touches a file of theirs. */
  readonly skills: readonly SkillLine[];
  /** Absent: it has none. */
  readonly memory?: Memory;
  /** A call that starts an agent and names none forks it. */
  readonly forks?: true;
}

interface Telling extends Keeping {
  readonly place: Place;
  readonly usesAgents: boolean;
  readonly usesSkills: boolean;
}

/** Asks for the surroundings, unless the history is older than they are. `uses…`: it has the tools. */
export async function briefingOf(
  sys: Sys,
  start: ProgramStart,
  { place, usesAgents, usesSkills, ...keeping }: Telling,
): Promise<Briefing> {
  if (start.surroundings !== true)
    return { environment: environmentText(place), sections: [], reminder: null, skills: [] };
  const around = await sys.surroundings(sys.ending);
  for (const notice of around.notices) sys.log("warn", notice);
  const files = around.instructions.map(({ path }) => path);
  if (files.length > 0) sys.log("info", `instructions: ${files.join(", ")}`);
  const skills = usesSkills ? (around.skills ?? []) : [];
  const listed = skills.filter(({ paths }) => paths === undefined);
  const all: readonly Section[] = [
    { part: "instructions", text: instructionsText(around.instructions) },
    { part: "agents", text: usesAgents ? agentsText(around.agents ?? []) : "" },
    { part: "skills", text: skillsText(listed, start.window?.window) },
    { part: "memory", text: memoryText(around.memory, keeping) },
  ];
  const sections = all.filter(({ text }) => text !== "");
  return {
    environment: environmentText(place, around),
    ...told(sections),
    skills: skills.filter(({ paths }) => paths !== undefined),
    ...(around.memory === undefined ? {} : { memory: around.memory }),
    ...(around.agents?.some(({ name }) => name === FORK) ? { forks: true as const } : {}),
  };
}

/** Beyond these, agents are known by their names alone where they are asked for. */
const MAX_AGENTS = 50;
/**
 * Agents that a list would not help to choose: the one that is used unless another is named, those of a coordinator, and the one
 * that a skill of the user's starts.
 */
const UNLISTED: ReadonlySet<string> = new Set([DEFAULT_AGENT, WORKER, COORDINATOR, "statusline-setup"]);

function agentsText(agents: readonly AgentLine[]): string {
  const listed = agents.filter(({ name }) => !UNLISTED.has(name)).slice(0, MAX_AGENTS);
  const lines = listed.map((agent) => lineOf(agent, MAX_CHARS));
  const list = lines.length === 0 ? [] : [`Values of subagent_type for agent:\n${lines.join("\n")}`];
  const told = agents.flatMap(({ name, tools }) =>
    tools === undefined ? [] : [`Tools of a ${name}: ${tools.join(", ")}`],
  );
  return [...list, ...told].join("\n");
}

const MAX_CHARS = 160;

/** As its parent's. */
export function briefingOfFork({ environment, reminder }: ForkPrefix): Briefing {
  return {
    environment,
    sections: [],
    reminder: reminder === "" ? null : { role: "user", content: reminder },
    skills: [],
  };
}

/** Different texts that are remembered: each is as long as the instruction files of a project. */
const MAX_SHARED = 32;
/** By the reminder. Agents that work in one folder share what they are told: it is more than all else that an idle one holds. */
const shared = new RecentMap<string, { readonly content: string; readonly sections: readonly Section[] }>(
  MAX_SHARED,
);

function told(found: readonly Section[]): Pick<Briefing, "sections" | "reminder"> {
  const text = found.map((each) => each.text).join("\n\n");
  if (text === "") return { sections: found, reminder: null };
  const content = reminder(text);
  const known = shared.use(content);
  const isKnown = known !== undefined && areSame(known.sections, found);
  const same = isKnown ? known : { content, sections: found };
  if (!isKnown) shared.set(content, same);
  // a message of its own: what is summed up from it on belongs to one conversation
  return { sections: same.sections, reminder: { role: "user", content: same.content } };
}

function areSame(one: readonly Section[], other: readonly Section[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ part, text }, at) => part === other[at]?.part && text === other[at].text)
  );
}

const FORGETFUL = new WeakMap<Briefing, Briefing>();

/** The same without memory: always the same object. That of a fork is as its parent had it. */
export function forgetful(briefing: Briefing): Briefing {
  const { memory: _, sections, ...same } = briefing;
  if (sections.length === 0) return briefing;
  const made = FORGETFUL.get(briefing) ?? {
    ...same,
    ...told(sections.filter(({ part }) => part !== "memory")),
  };
  FORGETFUL.set(briefing, made);
  return made;
}

/** The conversation without the notes that were recalled in it. */
export function forgotten(prompt: Prompt): Prompt {
  const isRecalled = ({ role, content }: ContextMessage): boolean =>
    role === "user" && content.startsWith(RECALLED);
  return { ...prompt, messages: prompt.messages.filter((message) => !isRecalled(message)) };
}

/** The prompt with the reminder before its first message. */
export function briefed(prompt: Prompt, { reminder }: Briefing): Prompt {
  return reminder === null ? prompt : { ...prompt, messages: [reminder, ...prompt.messages] };
}

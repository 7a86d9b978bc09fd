/**
 * What the model is told of its surroundings: the dynamic part of the system prompt, and a reminder before the first
 * message, with the instruction files and the skills. Not part of the conversation, so that no compaction loses it.
 */
import type { ProgramStart } from "../../abi/program.ts";
import type { Surroundings } from "../../abi/surroundings.ts";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { estimateTokens } from "../../lib/tokens.ts";
import { instructionsText, reminder } from "../instructions/frame.ts";
import { skillListing } from "../instructions/skill-listing.ts";
import { environmentText, type Place } from "./environment.ts";

export interface Briefing {
  readonly environment: string;
  /** Always the same object; null: nothing to tell. */
  readonly reminder: ContextMessage | null;
  readonly sizes: BriefingSizes;
}

/** In tokens, estimated. */
interface BriefingSizes {
  readonly environment: number;
  readonly instructions: number;
  readonly skills: number;
}

/** Asks for the surroundings, unless the history is older than they are. */
export async function briefingOf(sys: Sys, start: ProgramStart, place: Place): Promise<Briefing> {
  if (start.surroundings !== true) return briefingFrom(place);
  const around = await sys.surroundings(sys.ending);
  for (const notice of around.notices) sys.log("warn", notice);
  const files = around.instructions.map(({ path }) => path);
  if (files.length > 0) sys.log("info", `instructions: ${files.join(", ")}`);
  return briefingFrom(place, around);
}

function briefingFrom(place: Place, around?: Surroundings): Briefing {
  const environment = environmentText(place, around);
  const instructions = instructionsText(around?.instructions ?? []);
  const skills = skillListing(around?.skills ?? []);
  const parts = [instructions, skills].filter((part) => part !== "");
  const content = reminder(parts.join("\n\n"));
  return {
    environment,
    reminder: parts.length === 0 ? null : { role: "user", content },
    sizes: {
      environment: estimateTokens(environment),
      instructions: estimateTokens(instructions),
      skills: estimateTokens(skills),
    },
  };
}

/** The prompt with the reminder before its first message. */
export function briefed(prompt: Prompt, { reminder }: Briefing): Prompt {
  return reminder === null ? prompt : { ...prompt, messages: [reminder, ...prompt.messages] };
}

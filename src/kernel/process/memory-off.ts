/** Whether the user has turned memory off for a process: its folders are closed to it, and to what it starts from then on. */
import { type LiveFacet, plainFacet } from "../facts/facet.ts";
import type { Process } from "./process.ts";

/** A fork has what held at its place. */
export const memoryOffFacet: LiveFacet<boolean> = plainFacet("memoryOff", {
  init: false,
  folds: { "process.memory": (_now, { off }) => off === true },
  fork: (origin) => origin,
  isEarly: true,
  isHeld: true,
});

/** It was turned off here, or above it when it was started. */
export function isMemoryOff({ facts, seed }: Pick<Process, "facts" | "seed">): boolean {
  return seed.rights.noMemory === true || facts.of(memoryOffFacet);
}

/** The list of all durable facts of a process. The file of each facet says how it is read and who holds it. */

import { spentFacet } from "../../kernel/account/facet.ts";
import { contextFacet } from "../../kernel/context/facet.ts";
import { gaugeFacet } from "../../kernel/context/gauge-facet.ts";
import type { Facet } from "../../kernel/facts/facet.ts";
import { endedByFacet, groupsFacet, mailFacet } from "../../kernel/ipc/facets.ts";
import { labelsFacet } from "../../kernel/labels/facet.ts";
import { logFacet } from "../../kernel/log/facet.ts";
import { chosenModelFacet } from "../../kernel/process/chosen-model.ts";
import { circuitFacet } from "../../kernel/process/circuit.ts";
import { denialsFacet } from "../../kernel/process/denials.ts";
import { detachedFacet } from "../../kernel/process/end/report.ts";
import { answeringFacet } from "../../kernel/process/facets/answering-facet.ts";
import { asksFacet } from "../../kernel/process/facets/asks-facet.ts";
import { progressFacet } from "../../kernel/process/facets/progress-facet.ts";
import { runTimeFacet } from "../../kernel/process/facets/run-time-facet.ts";
import { keptFacet } from "../../kernel/process/kept-values.ts";
import { memoryOffFacet } from "../../kernel/process/memory-off.ts";
import { noteFacet } from "../../kernel/process/note.ts";
import { modeFacet } from "../../kernel/process/rights/mode-facet.ts";
import { seenFacet } from "../../kernel/process/seen-file-set.ts";
import { enteredFacet } from "../../kernel/process/tree/entered.ts";
import { worktreeFacet } from "../../kernel/process/tree/worktree.ts";
import { weightFacet } from "../../kernel/process/weight.ts";
import { supervisorFacet } from "../../supervise/record/facet.ts";

const FACETS: readonly Facet<unknown>[] = [
  answeringFacet,
  asksFacet,
  chosenModelFacet,
  circuitFacet,
  contextFacet,
  denialsFacet,
  detachedFacet,
  endedByFacet,
  enteredFacet,
  gaugeFacet,
  groupsFacet,
  keptFacet,
  labelsFacet,
  logFacet,
  mailFacet,
  modeFacet,
  memoryOffFacet,
  noteFacet,
  progressFacet,
  runTimeFacet,
  seenFacet,
  spentFacet,
  supervisorFacet,
  weightFacet,
  worktreeFacet,
];

/** Facets that need the whole history. */
export const LATE = FACETS.filter(({ isEarly }) => isEarly !== true);
/** Facets read by their record kinds alone, as soon as the process exists. */
export const EARLY = FACETS.filter(({ isEarly }) => isEarly === true);
/** Facets that a live process holds from the moment they are read. */
export const HELD_LATE = LATE.filter(({ isHeld }) => isHeld === true);
export const HELD_EARLY = EARLY.filter(({ isHeld }) => isHeld === true);

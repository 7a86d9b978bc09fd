/** The list of all durable facts of a process. The file of each facet says how it is read and who holds it. */

import { asksFacet, denialsFacet } from "../../consent/ask/facets.ts";
import { supervisorFacet } from "../../supervise/facet.ts";
import { spentFacet } from "../account/facet.ts";
import { contextFacet } from "../context/facet.ts";
import { gaugeFacet } from "../context/gauge-facet.ts";
import type { Facet } from "../facts/facet.ts";
import { endedByFacet, groupsFacet, mailFacet } from "../ipc/facets.ts";
import { labelsFacet } from "../labels/facet.ts";
import { logFacet } from "../log/facet.ts";
import { circuitFacet } from "./circuit.ts";
import { keptFacet } from "./kept-values.ts";
import { noteFacet } from "./note.ts";
import { progressFacet } from "./progress-facet.ts";
import { modeFacet } from "./rights/mode-facet.ts";
import { runTimeFacet } from "./run-time-facet.ts";
import { seenFacet } from "./seen-file-set.ts";

const FACETS: readonly Facet<unknown>[] = [
  asksFacet,
  circuitFacet,
  contextFacet,
  denialsFacet,
  endedByFacet,
  gaugeFacet,
  groupsFacet,
  keptFacet,
  labelsFacet,
  logFacet,
  mailFacet,
  modeFacet,
  noteFacet,
  progressFacet,
  runTimeFacet,
  seenFacet,
  spentFacet,
  supervisorFacet,
];

/** Facets that need the whole history. */
export const LATE = FACETS.filter(({ isEarly }) => isEarly !== true);
/** Facets read by their record kinds alone, as soon as the process exists. */
export const EARLY = FACETS.filter(({ isEarly }) => isEarly === true);
/** Facets that a live process holds from the moment they are read. */
export const HELD_LATE = LATE.filter(({ isHeld }) => isHeld === true);
export const HELD_EARLY = EARLY.filter(({ isHeld }) => isHeld === true);

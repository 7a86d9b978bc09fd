/** The permission mode set last, as journalled. Whether it still applies is decided when the process is restored. */
import { PERMISSION_MODES, type PermissionMode } from "../../../abi/process.ts";
import { NO_RIGHTS } from "../../../abi/rights.ts";
import { type Facet, plainFacet } from "../../facts/facet.ts";

export interface KeptMode {
  readonly mode: PermissionMode;
  /** The user gave the mode, so the modes of its ancestors do not limit it. */
  readonly given?: true;
  /** With plan mode: the mode before it. */
  readonly prior?: PermissionMode;
}

/** undefined: the mode in which it began. */
export const modeFacet: Facet<KeptMode | undefined> = plainFacet("mode", {
  init: undefined as KeptMode | undefined,
  folds: {
    "mode.set": (_now, { mode, given, prior }) => ({
      mode: readMode(mode),
      ...(given === true ? { given } : {}),
      ...(prior === undefined ? {} : { prior: readMode(prior) }),
    }),
  },
  isEarly: true,
});

/** Reads a mode from a record; an unknown value becomes the lowest mode. */
export function readMode(mode: unknown): PermissionMode {
  return PERMISSION_MODES.find((known) => known === mode) ?? NO_RIGHTS.mode;
}

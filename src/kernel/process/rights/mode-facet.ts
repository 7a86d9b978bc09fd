/** The permission mode that was set last, as the journal has it: what it counts for now is decided when the process is there. */
import { PERMISSION_MODES, type PermissionMode } from "../../../abi/process.ts";
import { NO_RIGHTS } from "../../../abi/rights.ts";
import { type Facet, plainFacet } from "../../facts/facet.ts";

export interface KeptMode {
  readonly mode: PermissionMode;
  /** A person gave it, whatever those above it may. */
  readonly given?: true;
  /** With plan mode: the one before it. */
  readonly prior?: PermissionMode;
}

/** undefined: the one it began in. */
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

/** From a record: what is not understood is the lowest. */
export function readMode(mode: unknown): PermissionMode {
  return PERMISSION_MODES.find((known) => known === mode) ?? NO_RIGHTS.mode;
}

/** The model that answered a process last, as its server names it; "" before its first answer. */
import type { Charge } from "../../../abi/effects.ts";
import { plainFacet, type RecordBody } from "../../facts/facet.ts";

export const answeringFacet = plainFacet("answering", {
  init: "",
  folds: { "call.result": answered },
  fork: (origin) => origin,
});

function answered(now: string, { cost }: RecordBody): string {
  const { purpose, model } = (cost ?? {}) as Partial<Charge>;
  return purpose === "main" ? model || now : now;
}

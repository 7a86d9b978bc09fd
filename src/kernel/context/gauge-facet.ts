/** What the loop has measured of its requests, and how the view has moved: for screens, also after the process has ended. */
import type { ContextGauge, ViewMove } from "../../abi/context.ts";
import type { Facet } from "../facts/facet.ts";
import type { MoveBody } from "./view.ts";

interface Measured {
  /** null: no model was asked yet, or by an earlier version. */
  readonly gauge: ContextGauge | null;
  /** The newest moves, oldest first. */
  readonly moves: readonly ViewMove[];
}

const MOST_MOVES = 64;
const NOTHING: Measured = { gauge: null, moves: [] };

export const gaugeFacet: Facet<Measured> = {
  init: () => NOTHING,
  folds: {
    // the body is what has changed
    "ctx.gauge": ({ gauge, moves }, body) => ({ gauge: { ...gauge, ...body } as ContextGauge, moves }),
    // what the last reply reported was of another view
    "ctx.move": (now, body, { at }) => {
      if (body.cid !== undefined) return now;
      const gauge = now.gauge === null ? null : { ...now.gauge, reported: null };
      const move = { at, ...moveOf(body as unknown as MoveBody) };
      return { gauge, moves: [...now.moves, move].slice(-MOST_MOVES) };
    },
  },
  pack: (now) => (now === NOTHING ? {} : { gauge: now }),
  unpack: ({ gauge }) => (gauge ?? NOTHING) as Measured,
  fork: (origin) => origin,
};

function moveOf(body: MoveBody): Omit<ViewMove, "at"> {
  if (!("undo" in body)) return body.boundary;
  const { before, after } = body;
  const counts = before === undefined || after === undefined ? {} : { before, after };
  return { layer: "undo", trigger: "manual", ...counts };
}

/** The origins of the data that a process has read. */
import type { Label } from "../../abi/labels.ts";
import { type LiveFacet, plainFacet, type RecordBody } from "../facts/facet.ts";
import { readLabels, uniteLabels, withoutLabels } from "./label-set.ts";

const unite = (now: readonly Label[], { labels }: RecordBody) => uniteLabels(now, readLabels(labels));

export const labelsFacet: LiveFacet<readonly Label[]> = plainFacet("labels", {
  init: [] as readonly Label[],
  folds: {
    // a child begins with the labels of its parent
    "process.spawned": unite,
    "label.add": unite,
    "label.clear": (now, { which }) => withoutLabels(now, String(which)),
  },
  read: readLabels,
  fork: (origin) => origin,
  isHeld: true,
  // keeps the labels added before the history was read
  join: uniteLabels,
});

/** The arguments that xargs and find -exec put into the commands that they run. */
import type { Printed } from "./printed.ts";
import { behind, type Spelling } from "./spelling.ts";
import { textsOf, UNKNOWN_WORD, type Word } from "./word.ts";

/** Returns the command with its further arguments. */
export type Fill = (inner: readonly Word[]) => readonly Word[];

/** For `xargs`: the arguments that it appends or puts in place of its `-I` text. null: they may be anything. */
export function fedWords(fed: Printed, argv: readonly Word[]): Fill | null {
  const texts = argv.map(({ text }) => text ?? "");
  if (texts.some((text) => /^(?:-a|--arg-file)/.test(text))) return null;
  const at = texts.findIndex((text) => /^-I/.test(text));
  const place = at < 0 ? "" : texts[at] === "-I" ? (texts[at + 1] ?? "") : (texts[at] ?? "").slice(2);
  if (fed === undefined)
    return (inner) => (place === "" ? [...inner, UNKNOWN_WORD] : inner.map(unknownWith(place)));
  const word: Word = { text: null, prefix: "", isMany: place === "", isSplit: true, among: fed, shown: "…" };
  return (inner) => (place === "" ? [...inner, word] : inner.map(replacing(place, fed)));
}

function unknownWith(place: string) {
  return (word: Word): Word => (word.text?.includes(place) === true ? UNKNOWN_WORD : word);
}

/** Replaces the `-I` text in a word. */
function replacing(place: string, fed: readonly Spelling[]) {
  return (word: Word): Word => {
    if (word.text === null || !word.text.includes(place)) return word;
    const unknown: Word = { ...UNKNOWN_WORD, isMany: false };
    const lead = word.text.slice(0, -place.length);
    if (!word.text.endsWith(place) || lead.includes(place)) return unknown;
    if (lead !== "" && fed.some(({ kind }) => kind !== "names" && kind !== "text")) return unknown;
    const put = (each: Spelling): Spelling =>
      each.kind === "text" ? { kind: "text", text: `${lead}${each.text}` } : behind(lead, each);
    const among = lead === "" ? fed : fed.map(put);
    return { text: null, prefix: lead, isMany: false, among, shown: word.shown };
  };
}

/** For `find -exec`: the names found, each beginning with the starting place. null: a starting place is unknown. */
export function foundWords(argv: readonly Word[]): Fill | null {
  const at = argv.findIndex(({ text }, i) => i > 0 && text !== null && /^[-(!]/.test(text));
  const places = textsOf(argv.slice(1, at < 0 ? argv.length : at));
  if (places === null) return null;
  const from = places.length === 0 ? ["."] : places;
  const named = argv.flatMap(({ text }, i) =>
    /^-i?name$/.test(argv[i - 1]?.text ?? "") && text !== null ? [text] : [],
  );
  const among = from.flatMap((place): readonly Spelling[] => [
    { kind: "names", text: place, start: place },
    ...named.map((name): Spelling => ({ kind: "glob", text: `${place}/**/${name}` })),
  ]);
  const word: Word = { text: null, prefix: "", isMany: true, among, shown: "{}" };
  return (inner) =>
    inner.map((each) =>
      each.text?.includes("{}") === true ? (each.text === "{}" ? word : UNKNOWN_WORD) : each,
    );
}

/** What is said of a conversation that the model is sent a shorter view of. */

interface Shortened {
  readonly layer: keyof typeof WORDS_OF;
  /** Tokens. */
  readonly before: number;
  readonly after: number;
}

const WORDS_OF = {
  micro: "old tool results were cleared",
  full: "earlier messages were summarised",
  notes: "the notes of the session took the place of earlier messages",
  partial: "a part of the conversation was summarised",
  collapse: "some old steps were folded",
  snip: "some messages were left out",
  drop: "the oldest messages were left out",
  clear: "all messages were left out",
} as const;

/** `context: earlier messages were summarised, about 160K tokens before, 20K now` */
export function viewWords({ layer, before, after }: Shortened): string {
  return `context: ${WORDS_OF[layer]}, about ${inK(before)} tokens before, ${inK(after)} now`;
}

function inK(tokens: number): string {
  return tokens < 1_000 ? `${tokens}` : `${Math.round(tokens / 1_000)}K`;
}

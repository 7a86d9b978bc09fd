/** Colours for marks. Adds escape sequences around the text and never changes its characters. */
export interface Paint {
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  /** The colour of the `index`-th of several items; colours repeat. */
  hue(index: number, text: string): string;
}

const bare = (text: string): string => text;

export const PLAIN: Paint = { dim: bare, red: bare, green: bare, hue: (_index, text) => text };

/** Cyan, yellow, magenta, blue, green: red is for failures. */
const HUES = [36, 33, 35, 34, 32] as const;

export const COLOURED: Paint = {
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
  red: (text) => `\x1b[31m${text}\x1b[39m`,
  green: (text) => `\x1b[32m${text}\x1b[39m`,
  hue: (index, text) => `\x1b[${HUES[index % HUES.length]}m${text}\x1b[39m`,
};

/** Colours are only used on terminals, and only if the user has not refused them. */
export function paintFor(isTerminal: boolean, refused: boolean): Paint {
  return isTerminal && !refused ? COLOURED : PLAIN;
}

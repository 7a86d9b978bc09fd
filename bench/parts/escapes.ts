/** How replies are streamed to a terminal that is measured, and what of its bytes steers it. */

/** Deltas of a reply. */
export const PER_SECOND = 50;
export const TICK_MS = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what steers a terminal
export const STEERING = /\x1b[[\]][0-9;?]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the screen is cleared
export const ANEW = /\x1b\[[23]J/g;

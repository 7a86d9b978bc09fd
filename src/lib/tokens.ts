/** The size of a text, or of several texts together. */
export interface TextSize {
  readonly chars: number;
  /** How many of them are U+2E80 or above (CJK). */
  readonly wide: number;
}

export function sizeOf(text: string): TextSize {
  let wide = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++;
  return { chars: text.length, wide };
}

/**
 * A quick estimate of tokens: one per 4 characters, one per wide character. For bounds and displays, never for bills.
 */
export function tokensOf({ chars, wide }: TextSize): number {
  return wide + Math.ceil((chars - wide) / 4);
}

/** The size of what a message says. JSON, and lines of it, have about two characters a token: they count twice. */
export function saidSize(text: string): TextSize {
  const { chars, wide } = sizeOf(text);
  return { chars: isJson(text) ? 2 * chars - wide : chars, wide };
}

/** By its beginning and its end: to parse it would cost more than the estimate is worth. */
function isJson(text: string): boolean {
  return /^\s*(\{\s*["}]|\[\s*[[{"\]\d-])/.test(text) && /[}\]]$/.test(text.slice(-64).trimEnd());
}

export function saidTokens(text: string): number {
  return tokensOf(saidSize(text));
}

export function estimateTokens(text: string): number {
  return tokensOf(sizeOf(text));
}

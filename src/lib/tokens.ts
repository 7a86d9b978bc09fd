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

export function estimateTokens(text: string): number {
  return tokensOf(sizeOf(text));
}

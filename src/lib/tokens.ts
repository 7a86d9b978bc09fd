/** Of a text, or of several that stand in one. */
export interface TextSize {
  readonly chars: number;
  /** Of them, those from U+2E80 up (CJK). */
  readonly wide: number;
}

export function sizeOf(text: string): TextSize {
  let wide = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++;
  return { chars: text.length, wide };
}

/** A quick estimate of tokens: text / 4; of wide characters one each. For bounds and displays, never for bills. */
export function tokensOf({ chars, wide }: TextSize): number {
  return wide + Math.ceil((chars - wide) / 4);
}

export function estimateTokens(text: string): number {
  return tokensOf(sizeOf(text));
}

/** A quick estimate of tokens: text / 4; from U+2E80 up (CJK) one each. For bounds and displays, never for bills. */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++;
  return wide + Math.ceil((text.length - wide) / 4);
}

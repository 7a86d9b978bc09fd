/**
 * Estimates the tokens of images and documents from the length of their base64, limited to the largest accepted size.
 */
const TOKENS_A_CHARACTER = 0.125;
const MOST = 30_000;

export function mediaTokens(media: readonly { readonly data: string }[]): number {
  return media.reduce(
    (sum, { data }) => sum + Math.min(MOST, Math.ceil(data.length * TOKENS_A_CHARACTER)),
    0,
  );
}

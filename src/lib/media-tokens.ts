/** What pictures and documents cost a model: by their base64, and never more than the largest that are taken. An estimate. */
const TOKENS_A_CHARACTER = 0.125;
const MOST = 30_000;

export function mediaTokens(media: readonly { readonly data: string }[]): number {
  return media.reduce(
    (sum, { data }) => sum + Math.min(MOST, Math.ceil(data.length * TOKENS_A_CHARACTER)),
    0,
  );
}

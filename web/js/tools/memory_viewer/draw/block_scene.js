// @ts-check
/**
 * What of the timeline is drawn, and how: the same for its pixels, its names, and the vectors of a saved picture.
 * @typedef {{model: any, blocks: import("../layout/blocks.js").Blocks, index: any, folded: Set<string>,
 *            view: {x: any, y: any}, colors: any, ofBlock: Uint8Array, unit: string, isNamed: boolean,
 *            groupOf: import("../data/labels.js").GroupOfRow | null}} Scene  `isNamed`: with the names that fit
 */
export {};

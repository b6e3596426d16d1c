// SPDX-License-Identifier: MIT
// What the papers are called in texts. Files, schedules and their parts have numbers instead, in the order in which we read them.

/** Number -> { label, file, authors, title, original, year }: the title in English, the original where it is another; in the order of the pages. */
export const papers = new Map([
    ['004', { label: 'KD-tree', file: 'kd-tree', authors: 'Serpa and Rodrigues', title: 'Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees', where: 'Computer Graphics Forum, 2019' }],
    ['000', { label: 'earlier KD-tree', file: 'earlier-kd-tree', authors: 'Serpa and Rodrigues', title: 'Spatial, Temporal and Order Relations for General and Scalable Broad-Phase Collision Detection', original: 'Relações Espaciais, Temporais e de Ordem para Detecção de Colisão Broad Phase Genérica e Escalável' }],
    ['001', { label: 'Broadmark', file: 'broadmark', authors: 'Serpa and Rodrigues', title: 'Broad Phase Collision Detection: New Methodology and Solution for Standardized Analysis of Algorithms' }],
    ['002', { label: 'RAY KD-tree', file: 'ray-kd-tree', authors: 'Serpa and Rodrigues', title: 'Broad-Phase Collision Detection with the RAY KD-Tree: An Efficient and Adaptive Approach', original: 'Detecção de Colisão Broad Phase com RAY KD-Tree: Uma Abordagem Eficiente e Adaptativa', where: '2015' }],
    ['003', { label: 'k-DOP', file: 'k-dop', authors: 'Amaral', title: 'Collision Detection Using Sweep and Prune with k-DOPs on the GPU', original: 'Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU', where: 'COPPE, 2021' }],
]);

/** Authors, title in English, the original beside it, where and when. */
export function citationOf(paper) {
    const { authors, title, original, where } = papers.get(paper);
    return `${authors}, *${title}*${original ? ` (in Portuguese: *${original}*)` : ''}${where ? `, ${where}` : ''}`;
}

/** The page's file, and a link to it. */
export const fileOf = paper => `${papers.get(paper).file}.md`;
export const linkOf = paper => `[${labelOf(paper)}](${fileOf(paper)})`;

/** "KD-tree", for links and tables. */
export const labelOf = paper => papers.get(paper).label;

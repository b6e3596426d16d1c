// SPDX-License-Identifier: MIT
// What the papers are called in texts. Files, schedules and their parts have numbers instead, in the order in which we read them.

/** Number -> [label, authors and title]; in the order of the pages. */
export const papers = new Map([
    ['004', ['KD-tree', 'Serpa and Rodrigues, *Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection Using KD-Trees*, CGF 2019']],
    ['000', ['earlier KD-tree', 'Serpa and Rodrigues, *Relações Espaciais, Temporais e de Ordem para Detecção de Colisão Broad Phase Genérica e Escalável*']],
    ['001', ['Broadmark', 'Serpa and Rodrigues, *Broad Phase Collision Detection: New Methodology and Solution for Standardized Analysis of Algorithms*']],
    ['002', ['RAY KD-tree', 'Serpa and Rodrigues, *Detecção de Colisão Broad Phase com RAY KD-Tree: Uma Abordagem Eficiente e Adaptativa*, 2015']],
    ['003', ['k-DOP', 'Amaral, *Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU*, COPPE 2021']],
]);

/** "KD-tree", for links and tables. */
export const labelOf = paper => papers.get(paper)[0];

/** "the KD-tree paper", for sentences. */
export const nameOf = paper => `the ${labelOf(paper)} paper`;

/** The same as a title. */
export const titleOf = paper => `The ${labelOf(paper)} paper`;

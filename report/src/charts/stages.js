// SPDX-License-Identifier: MIT
// What a frame's time is made of, one stacked bar per name.
import { msText, numberText, percentText } from '../model/numbers.js';
import { light } from '../look.js';
import { baseOption, legendFor, linearAxis, nameAxis, nameRoom, tooltipHtml } from './frame.js';

const STRIPES = [null, { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: 0.7 }, { symbol: 'circle', symbolSize: 0.5 }, { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -0.7 }];

/** data: { rows: [{ name, stages: [[stage, ms]] }], share (bars of equal length), … }; fastest first. */
export function stageChart(data, look = light) {
    const total = row => row.stages.reduce((sum, [, value]) => sum + value, 0);
    const rows = data.rows.filter(row => total(row) > 0).sort((a, b) => total(a) - total(b));
    const names = rows.map(row => row.name);
    const stages = [...new Set(rows.flatMap(row => row.stages.map(([stage]) => stage)))];
    const { legend, room } = legendFor({ ...data, hidden: null }, stages, look, { icons: 'boxes' });
    const valueOf = (row, stage) => {
        const found = row.stages.find(([name]) => name === stage);
        return found ? (data.share ? found[1] / total(row) : found[1]) : 0;
    };
    const format = data.share ? percentText : msText;
    return {
        ...baseOption(data, look),
        legend,
        grid: { outerBoundsMode: 'none', left: nameRoom(names, data), right: room.right, top: room.top, bottom: 48 + room.bottom },
        tooltip: {
            ...baseOption(data, look).tooltip,
            trigger: 'axis',
            axisPointer: { type: 'shadow', shadowStyle: { color: look.grid, opacity: 0.5 } },
            formatter: items => tooltipHtml(items[0].name, items.filter(item => item.value > 0).map(item => [item.color, item.seriesName, format(item.value)])),
        },
        xAxis: linearAxis(look, data.share ? 'share of the frame' : 'ms per frame', data.share ? share => `${Math.round(100 * share)} %` : numberText, data.share ? { min: 0, max: 1 } : { min: 0 }),
        yAxis: nameAxis(look, names, data),
        series: stages.map((stage, index) => ({
            type: 'bar',
            name: stage,
            stack: 'stages',
            barMaxWidth: 17,
            data: rows.map(row => valueOf(row, stage)),
            itemStyle: {
                color: look.stages[index % look.stages.length],
                decal: index > 0 && STRIPES[index % STRIPES.length] ? { ...STRIPES[index % STRIPES.length], color: look.name === 'dark' ? 'rgba(0,0,0,.28)' : 'rgba(255,255,255,.38)' } : undefined,
            },
        })),
    };
}

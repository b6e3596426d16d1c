// SPDX-License-Identifier: MIT
// The parts of Apache ECharts that the charts use, and options turned into SVG text, with or without a
// browser.
import { init, use } from 'echarts/core';
import { BarChart, BoxplotChart, CustomChart, LineChart, RadarChart, ScatterChart } from 'echarts/charts';
import {
    AriaComponent, AxisPointerComponent, GridComponent, LegendComponent, LegendScrollComponent, TitleComponent, TooltipComponent,
} from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';

use([BarChart, BoxplotChart, CustomChart, LineChart, RadarChart, ScatterChart, AriaComponent, AxisPointerComponent, GridComponent,
    LegendComponent, LegendScrollComponent, TitleComponent, TooltipComponent, SVGRenderer]);

/** A live chart in an element. */
export const openPlot = element => init(element, null, { renderer: 'svg' });

/** The option as a stand-alone SVG document, on white unless told otherwise: what shows it may be dark. */
export function svgText(option, { width = 820, height = 480, background = '#ffffff' } = {}) {
    const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
    try {
        chart.setOption({ ...option, animation: false, backgroundColor: background });
        return chart.renderToSVGString();
    } finally {
        chart.dispose(); // its clock would keep the process alive
    }
}

import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.HistogramLogReader;

/** HdrHistogram's own view of a log: a line for each interval, as hlog.py prints them. */
public class HlogCheck {
	public static void main(String[] args) throws Exception {
		double[] percentiles = {0, 50, 90, 99, 99.9, 99.99, 100};
		HistogramLogReader reader = new HistogramLogReader(args[0]);

		while (reader.hasNext()) {
			AbstractHistogram h = (AbstractHistogram) reader.nextIntervalHistogram();
			StringBuilder line = new StringBuilder(h.getTag() + " " + h.getTotalCount());

			for (double p : percentiles)
				line.append(' ').append(h.getValueAtPercentile(p));
			System.out.println(line);
		}
	}
}
